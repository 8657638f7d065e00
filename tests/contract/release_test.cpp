// Rule 6: release is idempotent and never frees another's lease.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class Release : public Contract {};
HOLDFAST_ON_ALL_STORES(Release);

TEST_P(Release, Frees) {
  const Client a = client();
  Lease lease = a.mutex("x").acquire();
  EXPECT_EQ(lease.release(), ReleaseOutcome::released);
  EXPECT_EQ(lease.state(), LeaseState::released);
  EXPECT_THAT(truth("x").holders, IsEmpty());
  std::error_code why;
  EXPECT_FALSE(lease.ensure_held(why));
  EXPECT_EQ(why, errc::lost);
  EXPECT_EQ(error_of([&] { lease.renew(); }), errc::lost);
  EXPECT_THAT(truth("x").holders, IsEmpty());
}

TEST_P(Release, MayBeRepeated) {
  const Client a = client();
  Lease lease = a.mutex("x").acquire();
  EXPECT_EQ(lease.release(), ReleaseOutcome::released);
  const Lease next = another().mutex("x").acquire();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(lease.release(), ReleaseOutcome::released);
  EXPECT_EQ(truth("x").holders.at(0).token, next.token());
}

TEST_P(Release, OfAnExpiredLeaseSaysSo) {
  const Client a = client();
  Lease old = a.mutex("x", {.ttl = short_ttl, .auto_renew = false}).acquire();
  const Lease recent = another().mutex("x").acquire();
  EXPECT_EQ(old.release(), ReleaseOutcome::already_lost);
  EXPECT_EQ(old.release(), ReleaseOutcome::already_lost);
  EXPECT_EQ(truth("x").holders.at(0).token, recent.token());
  EXPECT_FALSE(another().mutex("x").try_acquire());
}

TEST_P(Release, OfAnExpiredLeaseThatNobodyTookSaysSoToo) {
  const Client a = client();
  Lease old = a.mutex("x", {.ttl = short_ttl, .auto_renew = false}).acquire();
  sleep_until(old.valid_until());
  EXPECT_EQ(old.release(), ReleaseOutcome::already_lost);
  EXPECT_TRUE(another().mutex("x").try_acquire_for(patience));
}

TEST_P(Release, HappensWhenALeaseIsDestroyedOrReplaced) {
  const Client a = client();
  {
    const Lease lease = a.mutex("x", {.ttl = long_ttl}).acquire();
  }
  EXPECT_TRUE(becomes_free("x"));
  Lease lease = a.mutex("x", {.ttl = long_ttl}).acquire();
  lease = a.mutex("y", {.ttl = long_ttl}).acquire();
  EXPECT_TRUE(becomes_free("x"));
  EXPECT_THAT(truth("y").holders, SizeIs(1));
  lease = Lease();
  EXPECT_TRUE(becomes_free("y"));
}

TEST_P(Release, MovesWithTheLease) {
  const Client a = client();
  Lease from = a.mutex("x").acquire();
  const auto token = from.token();
  Lease to = std::move(from);
  EXPECT_FALSE(from);  // NOLINT: that is what is tested
  EXPECT_EQ(from.state(), LeaseState::released);
  from.release();
  EXPECT_EQ(to.token(), token);
  EXPECT_EQ(to.state(), LeaseState::held);
  EXPECT_THAT(truth("x").holders, SizeIs(1));
  EXPECT_EQ(to.release(), ReleaseOutcome::released);
}

TEST_P(Release, HappensWhileAnExceptionUnwinds) {
  const Client a = client();
  EXPECT_THROW(
      {
        const Lease lease = a.mutex("x", {.ttl = long_ttl}).acquire();
        throw std::runtime_error("work failed");
      },
      std::runtime_error);
  EXPECT_TRUE(becomes_free("x"));
}

TEST_P(Release, ADestructorDoesNotWaitForTheStore) {
  Faults faults;
  const Client a = faulty(faults);
  {
    const Lease lease = a.mutex("x", {.ttl = long_ttl}).acquire();
    faults.next(Step::release, endless(hold_request()));
  }
  // The destructor has returned though the release has not even been sent.
  ASSERT_TRUE(faults.wait_for(Step::release, 1));
  EXPECT_THAT(truth("x").holders, SizeIs(1));
  faults.let_go();
  EXPECT_TRUE(becomes_free("x"));
}

TEST_P(Release, WaitsNoLongerThanTheRequestTimeout) {
  Faults faults;
  ClientOptions options;
  options.request_timeout = scaled(200ms);
  const Client a = faulty(faults, options);
  Lease lease = a.mutex("x", {.ttl = long_ttl}).acquire();
  faults.always(Step::release, hold_request());
  const auto before = boot_clock::now();
  EXPECT_EQ(lease.release(), ReleaseOutcome::unknown);
  EXPECT_LT(boot_clock::now(), before + options.request_timeout + lateness);
  faults.clear();
  faults.let_go();
  EXPECT_TRUE(becomes_free("x"));
}

TEST_P(Release, IsNotFollowedByARenewal) {
  Faults faults;
  const Client a = faulty(faults);
  Lease lease = a.mutex("x", {.ttl = short_ttl}).acquire();
  ASSERT_TRUE(faults.wait_for(Step::renew, 1));
  faults.next(Step::release, endless(hold_request()));
  auto releasing = std::async(std::launch::async, [&] { return lease.release(); });
  ASSERT_TRUE(faults.wait_for(Step::release, 1));
  const auto sent = faults.calls(Step::release)[0].at;
  sleep_until(sent + short_ttl);
  for (const auto& call : faults.calls(Step::renew)) EXPECT_LE(call.at, sent);
  faults.let_go();
  (void)releasing.get();
}

TEST_P(Release, OfAPlaceInTheQueueIsNotPossible) {
  // What a waiter has is no lease yet: when it gives up, the holder stays.
  const Client a = client();
  const Client b = client();
  const Lease lease = a.mutex("x").acquire();
  EXPECT_FALSE(b.mutex("x").try_acquire_for(50ms));
  EXPECT_EQ(truth("x").holders.at(0).token, lease.token());
}

}  // namespace
}  // namespace holdfast::test
