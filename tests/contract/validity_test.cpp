// Rule 2: valid until counts from before the request, and nothing is held after it.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class Validity : public Contract {
 protected:
  /// Long enough for its margin (5 %) to be well below `delay`.
  static constexpr std::chrono::milliseconds ttl = scaled(4s);
  static constexpr std::chrono::milliseconds delay = scaled(500ms);
};
HOLDFAST_ON_ALL_STORES(Validity);

TEST_P(Validity, EndsWithinTheTtlOfTheCall) {
  const Client a = client();
  const auto before = boot_clock::now();
  const Lease lease = a.mutex("x", {.ttl = ttl, .auto_renew = false}).acquire();
  const auto after = boot_clock::now();
  EXPECT_LT(lease.valid_until(), after + ttl);
  EXPECT_GT(lease.valid_until(), before + ttl / 2);
}

TEST_P(Validity, CountsFromBeforeTheRequestAndNotFromTheReply) {
  Faults faults;
  const Client a = faulty(faults);
  faults.next(Step::acquire, endless(hold_reply()));
  Asking asking(a.mutex("x", {.ttl = ttl, .auto_renew = false}));
  ASSERT_TRUE(eventually(
      [&] { return faults.count(Step::acquire) == 1 && faults.calls(Step::acquire)[0].answered; }));
  const auto answered = *faults.calls(Step::acquire)[0].answered;
  sleep_until(answered + delay);
  faults.let_go();
  EXPECT_LE(asking.granted().valid_until(), answered + ttl);
}

TEST_P(Validity, OfARenewalCountsFromBeforeItsRequestToo) {
  Faults faults;
  const Client a = faulty(faults);
  Lease lease = a.mutex("x", {.ttl = ttl, .auto_renew = false}).acquire();
  faults.next(Step::renew, endless(hold_reply()));
  auto renewing = std::async(std::launch::async, [&] { lease.renew(); });
  ASSERT_TRUE(eventually(
      [&] { return faults.count(Step::renew) == 1 && faults.calls(Step::renew)[0].answered; }));
  const auto answered = *faults.calls(Step::renew)[0].answered;
  sleep_until(answered + delay);
  faults.let_go();
  renewing.get();
  EXPECT_LE(lease.valid_until(), answered + ttl);
}

TEST_P(Validity, AGrantThatComesAfterItsTtlIsNone) {
  Faults faults;
  const Client a = faulty(faults);
  faults.next(Step::acquire, endless(hold_reply()));
  Asking asking(a.mutex("x", {.ttl = short_ttl}), 0ms);
  ASSERT_TRUE(eventually(
      [&] { return faults.count(Step::acquire) == 1 && faults.calls(Step::acquire)[0].answered; }));
  sleep_until(*faults.calls(Step::acquire)[0].answered + short_ttl);
  faults.let_go();
  // An error, or a new grant; but never the old one.
  if (const auto lease = asking.outcome()) {
    EXPECT_GE(faults.count(Step::acquire), 2);
  } else {
    EXPECT_TRUE(becomes_idle("x"));
  }
}

TEST_P(Validity, NothingIsHeldAfterIt) {
  const Client a = client();
  const Lease lease = a.mutex("x", {.ttl = short_ttl, .auto_renew = false}).acquire();
  int held = 0;
  for (;;) {
    const auto before = boot_clock::now();
    std::error_code why;
    const bool ours = lease.ensure_held(why);
    const LeaseState state = lease.state();
    if (before >= lease.valid_until()) {
      ASSERT_FALSE(ours);
      ASSERT_EQ(why, errc::lost);
      ASSERT_EQ(state, LeaseState::lost);
      break;
    }
    held += ours;
  }
  EXPECT_GT(held, 0);
  EXPECT_EQ(error_of([&] { lease.ensure_held(); }), errc::lost);
  EXPECT_EQ(lease.loss_reason(), LossReason::expired);
}

TEST_P(Validity, EndsOnTimeThoughTheStoreHangs) {
  Faults faults;
  const Client a = faulty(faults);
  Lease lease = a.mutex("x", {.ttl = short_ttl}).acquire();
  faults.all(endless(hold_request()));
  ASSERT_TRUE(faults.wait_for(Step::renew, 1));
  const auto end = lease.valid_until();
  Event lost;
  boot_clock::time_point at;
  lease.on_loss([&](LossReason) {
    at = boot_clock::now();
    lost.set();
  });
  ASSERT_TRUE(lost.wait());
  EXPECT_EQ(lease.valid_until(), end);
  EXPECT_LT(at, end + lateness);
  EXPECT_EQ(lease.state(), LeaseState::lost);
  EXPECT_TRUE(lease.stop_token().stop_requested());
  faults.clear();
  faults.let_go();
}

TEST_P(Validity, ALateAnswerRevivesNothing) {
  Faults faults;
  const Client a = faulty(faults);
  Lease lease = a.mutex("x", {.ttl = short_ttl}).acquire();
  Event lost;
  lease.on_loss([&](LossReason) { lost.set(); });
  faults.next(Step::renew, endless(hold_reply()), 100);
  ASSERT_TRUE(lost.wait());
  const auto end = lease.valid_until();
  faults.clear();
  faults.let_go();
  (void)a.inspect("x");  // after the late answer: the loop works in order
  EXPECT_EQ(lease.state(), LeaseState::lost);
  EXPECT_EQ(lease.valid_until(), end);
  EXPECT_EQ(error_of([&] { lease.renew(); }), errc::lost);
  EXPECT_EQ(lost.count(), 1);
  EXPECT_TRUE(becomes_free("x"));
}

TEST_P(Validity, RisesWithEachRenewal) {
  const Client a = client();
  const Lease lease = a.mutex("x", {.ttl = scaled(1500ms)}).acquire();
  for (int i = 0; i < 2; ++i) {
    const auto before = lease.valid_until();
    ASSERT_TRUE(eventually([&] { return lease.valid_until() > before; }));
  }
  EXPECT_EQ(lease.state(), LeaseState::held);
}

TEST_P(Validity, ATtlThatTheStoreCannotHonourIsRefused) {
  const Client a = client();
  const auto& can = a.capabilities();
  for (const auto bad :
       {0ms, -1s + 0ms, can.min_ttl - 1ms, can.max_ttl + 1ms, std::chrono::milliseconds::max()}) {
    SCOPED_TRACE(bad.count());
    EXPECT_THAT(error_of([&] { return a.mutex("x", {.ttl = bad}).acquire(); }),
                AnyOf(errc::bad_argument, errc::unsupported));
  }
  for (const auto good : {can.min_ttl, can.max_ttl})
    EXPECT_EQ(a.mutex("x", {.ttl = good}).acquire().release(), ReleaseOutcome::released);
}

}  // namespace
}  // namespace holdfast::test
