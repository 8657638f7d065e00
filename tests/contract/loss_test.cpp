// Rule 3: loss is delivered: stop token, callback, reason, ensure_held; jeopardy comes before it.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

/// What a lease's holder hears, in order.
class Ear {
 public:
  explicit Ear(Lease& lease) : stop_(lease.stop_token(), [this] { heard_.put("stop"); }) {
    lease.on_loss(
        [this](LossReason reason) { heard_.put("lost " + std::string(to_string(reason))); });
    lease.on_jeopardy([this] { heard_.put("jeopardy"); });
  }
  std::string next() { return heard_.take().value_or("nothing"); }
  [[nodiscard]] bool silent() const { return heard_.size() == 0; }
  /// Both signs of a loss, in any order.
  std::string loss() {
    std::string first = next(), second = next();
    if (first == "stop") std::swap(first, second);
    return second == "stop" ? first : first + ", " + second;
  }

 private:
  Inbox<std::string> heard_;
  std::stop_callback<std::function<void()>> stop_;
};

class Loss : public Contract {
 protected:
  static constexpr std::chrono::milliseconds ttl = scaled(1200ms);
};
HOLDFAST_ON_ALL_STORES(Loss);

TEST_P(Loss, ByRevocationIsToldAtOnce) {
  const Client a = client();
  Lease lease = a.mutex("x", {.ttl = long_ttl}).acquire();
  Ear ear(lease);
  EXPECT_EQ(lease.loss_reason(), LossReason::none);
  EXPECT_EQ(another().revoke("x"), 1u);
  EXPECT_EQ(ear.loss(), "lost " + std::string(to_string(LossReason::revoked)));
  EXPECT_EQ(lease.state(), LeaseState::lost);
  EXPECT_EQ(lease.loss_reason(), LossReason::revoked);
  EXPECT_TRUE(lease.stop_token().stop_requested());
  std::error_code why;
  EXPECT_FALSE(lease.ensure_held(why));
  EXPECT_EQ(why, errc::lost);
  const std::string words = words_of([&] { lease.ensure_held(); });
  EXPECT_THAT(words, HasSubstr("'x'"));
  EXPECT_EQ(error_of([&] { lease.renew(); }), errc::lost);
  EXPECT_EQ(lease.release(), ReleaseOutcome::already_lost);
  EXPECT_TRUE(ear.silent());
}

TEST_P(Loss, ByExpiryIsTold) {
  const Client a = client();
  Lease lease = a.mutex("x", {.ttl = short_ttl, .auto_renew = false}).acquire();
  Ear ear(lease);
  EXPECT_THAT(ear.loss(), AnyOf("lost expired", "lost expired, jeopardy"));
  EXPECT_EQ(lease.loss_reason(), LossReason::expired);
}

TEST_P(Loss, IsToldAtOnceToWhoAsksLater) {
  const Client a = client();
  Lease lease = a.mutex("x").acquire();
  Event known;
  lease.on_loss([&](LossReason) { known.set(); });
  admin_.revoke("x");
  ASSERT_TRUE(known.wait());
  Event late;
  lease.on_loss([&](LossReason reason) {
    EXPECT_EQ(reason, LossReason::revoked);
    late.set();
  });
  EXPECT_TRUE(late.wait());
  EXPECT_EQ(late.count(), 1);
  EXPECT_EQ(known.count(), 1);
}

TEST_P(Loss, IsNotToldAfterARelease) {
  const Client a = client();
  Lease lease = a.mutex("x", {.ttl = short_ttl}).acquire();
  Ear ear(lease);
  EXPECT_EQ(lease.release(), ReleaseOutcome::released);
  EXPECT_EQ(lease.loss_reason(), LossReason::none);
  const auto end = lease.valid_until();
  const Lease other = another().mutex("x").acquire();
  sleep_until(end + short_ttl / 4);
  admin_.revoke("x");
  EXPECT_EQ(lease.state(), LeaseState::released);
  EXPECT_TRUE(ear.silent());
}

TEST_P(Loss, IsFoundByTheNextRenewalWhenItsEventIsLost) {
  Faults faults;
  const Client a = faulty(faults);
  faults.mute_events(true);
  Lease lease = a.mutex("x", {.ttl = scaled(6s)}).acquire();
  Ear ear(lease);
  EXPECT_EQ(admin_.revoke("x"), 1u);
  const auto end = lease.valid_until();
  EXPECT_THAT(ear.loss(), HasSubstr("lost revoked"));
  EXPECT_LT(boot_clock::now(), end);
}

TEST_P(Loss, OfSessionIsTold) {
  Faults faults;
  const Client a = faulty(faults);
  Lease lease = a.mutex("x").acquire();
  Ear ear(lease);
  faults.tell({driver::Event::Kind::lost, faults.calls(Step::acquire)[0].requests[0]->id,
               LossReason::session_lost});
  EXPECT_EQ(ear.loss(), "lost " + std::string(to_string(LossReason::session_lost)));
  EXPECT_EQ(error_of([&] { lease.ensure_held(); }), errc::lost);
}

TEST_P(Loss, OfTheStoreComesAfterJeopardyAndByTheDeadline) {
  Faults faults;
  const Client a = faulty(faults);
  Lease lease = a.mutex("x", {.ttl = ttl}).acquire();
  Ear ear(lease);
  faults.always(Step::renew, refuse());
  EXPECT_EQ(ear.next(), "jeopardy");
  EXPECT_THAT(lease.state(), AnyOf(LeaseState::doubtful, LeaseState::lost));
  EXPECT_EQ(ear.loss(), "lost " + std::string(to_string(LossReason::unreachable)));
  EXPECT_LT(boot_clock::now(), lease.valid_until() + lateness);
  EXPECT_TRUE(ear.silent());
}

TEST_P(Loss, DoubtPasses) {
  Faults faults;
  const Client a = faulty(faults);
  Lease lease = a.mutex("x", {.ttl = scaled(6s)}).acquire();
  Ear ear(lease);
  faults.always(Step::renew, refuse());
  EXPECT_EQ(ear.next(), "jeopardy");
  EXPECT_EQ(lease.state(), LeaseState::doubtful);
  lease.ensure_held();
  faults.clear();
  EXPECT_TRUE(eventually([&] { return lease.state() == LeaseState::held; }));
  EXPECT_TRUE(ear.silent());
  EXPECT_FALSE(lease.stop_token().stop_requested());
}

TEST_P(Loss, TheStopTokenMayFireAtDoubt) {
  Faults faults;
  const Client a = faulty(faults);
  Lease lease = a.mutex("x", {.ttl = scaled(6s), .stop_at = StopAt::doubt}).acquire();
  Event stopped;
  LeaseState at_stop = LeaseState::released;
  const std::stop_callback callback(lease.stop_token(), [&] {
    at_stop = lease.state();
    stopped.set();
  });
  faults.always(Step::renew, refuse());
  ASSERT_TRUE(stopped.wait());
  EXPECT_EQ(at_stop, LeaseState::doubtful);
}

TEST_P(Loss, OfOneNameIsLossOfAll) {
  const Client a = client();
  Lease lease = a.mutex({"x", "y"}, {.ttl = ttl}).acquire();
  Ear ear(lease);
  EXPECT_EQ(another().revoke("y"), 1u);
  EXPECT_THAT(ear.loss(), HasSubstr("lost"));
  EXPECT_EQ(lease.state(), LeaseState::lost);
  EXPECT_TRUE(another().mutex({"x", "y"}).try_acquire_for(patience));
}

TEST_P(Loss, AtTheEndOfTheClientIsTold) {
  std::optional<Client> a(client());
  Lease lease = a->mutex("x", {.ttl = long_ttl}).acquire();
  Ear ear(lease);
  a.reset();
  EXPECT_EQ(ear.loss(), "lost " + std::string(to_string(LossReason::client_closed)));
  EXPECT_EQ(lease.loss_reason(), LossReason::client_closed);
  EXPECT_TRUE(becomes_free("x"));
}

TEST_P(Loss, OfOneLeaseTouchesNoOther) {
  const Client a = client();
  Lease one = a.mutex("x").acquire();
  Lease two = a.mutex("y").acquire();
  Ear ear_one(one);
  Ear ear_two(two);
  admin_.revoke("x");
  EXPECT_THAT(ear_one.loss(), HasSubstr("lost"));
  two.renew();
  EXPECT_EQ(two.state(), LeaseState::held);
  EXPECT_TRUE(ear_two.silent());
}

TEST_P(Loss, ABlockedCallbackHidesNoLoss) {
  const Client a = client();
  Lease one = a.mutex("x").acquire();
  Lease two = a.mutex("y", {.ttl = short_ttl, .auto_renew = false}).acquire();
  Event inside;
  Event leave;
  one.on_loss([&](LossReason) {
    inside.set();
    (void)leave.wait();
  });
  admin_.revoke("x");
  ASSERT_TRUE(inside.wait());
  sleep_until(two.valid_until());
  EXPECT_EQ(two.state(), LeaseState::lost);
  EXPECT_EQ(error_of([&] { two.ensure_held(); }), errc::lost);
  leave.set();
}

TEST_P(Loss, CallbacksMayUseTheLease) {
  const Client a = client();
  Lease lease = a.mutex("x").acquire();
  Event done;
  LeaseState seen = LeaseState::held;
  lease.on_loss([&](LossReason) {
    seen = lease.state();
    (void)lease.token();
    std::error_code why;
    (void)lease.ensure_held(why);
    done.set();
  });
  admin_.revoke("x");
  ASSERT_TRUE(done.wait());
  EXPECT_EQ(seen, LeaseState::lost);
}

TEST_P(Loss, WithLeaseThrowsWhenItsWorkOutlivedTheLease) {
  const Client a = client();
  const Mutex mutex = a.mutex("x");
  EXPECT_EQ(with_lease(mutex, [](Held held) { return held.token() > 0; }), true);
  bool ran = false;
  EXPECT_EQ(error_of([&] {
              with_lease(mutex, [&](Held held) {
                admin_.revoke("x");
                EXPECT_TRUE(eventually([&] { return held.stop_token().stop_requested(); }));
                ran = true;
              });
            }),
            errc::lost);
  EXPECT_TRUE(ran);
  EXPECT_THROW(with_lease(mutex, [](Held) { throw std::runtime_error("work"); }),
               std::runtime_error);
  EXPECT_TRUE(becomes_free("x"));
}

}  // namespace
}  // namespace holdfast::test
