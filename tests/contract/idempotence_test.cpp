// Rule 4: unknown is not failed. What is asked twice is done once; what may have been done is
// undone.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class Idempotence : public Contract {
 protected:
  /// A client that gives up a request soon, so that outcomes turn unknown.
  static ClientOptions impatient() {
    ClientOptions options;
    options.request_timeout = scaled(300ms);
    return options;
  }
  static constexpr LeaseOptions long_lease{.ttl = long_ttl};

  /// An acquire whose answer was lost: either its first answer came with a retry, or it is undone.
  void check_unknown(Asking& asking, std::string_view name) {
    if (auto lease = asking.outcome()) {
      EXPECT_EQ(lease->state(), LeaseState::held);
      EXPECT_EQ(truth(name).holders.at(0).token, lease->token());
      EXPECT_EQ(lease->release(), ReleaseOutcome::released);
    } else {
      EXPECT_EQ(asking.error(), errc::unknown);
    }
    EXPECT_TRUE(becomes_idle(name)) << "it would stay until its TTL ends";
  }
};
HOLDFAST_ON_ALL_STORES(Idempotence);

TEST_P(Idempotence, AnAcquireWhoseAnswerIsLostIsUndone) {
  Faults faults;
  const Client a = faulty(faults);
  faults.always(Step::acquire, lose_reply());
  Asking asking(a.mutex("x", long_lease));
  check_unknown(asking, "x");
  EXPECT_TRUE(another().mutex("x").try_acquire_for(patience));
}

TEST_P(Idempotence, AWaitWhoseGrantIsLostIsUndone) {
  Faults faults;
  const Client a = faulty(faults);
  Lease first = another().mutex("x").acquire();
  faults.always(Step::acquire, lose_reply());
  Asking asking(a.mutex("x", long_lease));
  ASSERT_TRUE(queued("x"));
  first.release();
  check_unknown(asking, "x");
}

TEST_P(Idempotence, SharedAndPermitsAreUndoneToo) {
  Faults faults;
  const Client a = faulty(faults);
  faults.always(Step::acquire, lose_reply());
  Asking reading(a.shared_mutex("x", long_lease).shared());
  check_unknown(reading, "x");
  Asking taking(a.semaphore("y", 3, long_lease, 2));
  check_unknown(taking, "y");
  Asking several(a.mutex({"v", "w"}, long_lease));
  check_unknown(several, "v");
  EXPECT_TRUE(becomes_idle("w"));
}

TEST_P(Idempotence, AnAcquireThatArrivesTwiceIsGrantedOnce) {
  Faults faults;
  const Client a = faulty(faults);
  faults.always(Step::acquire, duplicate());
  auto lease = a.mutex("x", long_lease).try_acquire();
  ASSERT_TRUE(lease);
  ASSERT_THAT(truth("x").holders, SizeIs(1));
  EXPECT_EQ(truth("x").holders[0].token, lease->token());
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_THAT(truth("x").holders, IsEmpty());
  const auto permits = a.semaphore("y", 2, long_lease).try_acquire();
  ASSERT_TRUE(permits);
  EXPECT_THAT(truth("y").holders, SizeIs(1));
  EXPECT_TRUE(another().semaphore("y", 2).try_acquire());
}

TEST_P(Idempotence, AnAcquireThatArrivesAfterItsClientGaveUpIsUndone) {
  Faults faults;
  const Client a = faulty(faults, impatient());
  faults.next(Step::acquire, hold_request());
  Asking asking(a.mutex("x", long_lease));
  if (asking.outcome()) return;  // it asked again
  EXPECT_EQ(asking.error(), errc::unknown);
  faults.let_go();
  ASSERT_TRUE(eventually([&] { return faults.calls(Step::acquire)[0].answered.has_value(); }));
  EXPECT_TRUE(becomes_idle("x")) << "a release before the late request arrived is not enough";
}

TEST_P(Idempotence, AReleaseThatArrivesTwiceFreesOnce) {
  Faults faults;
  const Client a = faulty(faults);
  faults.always(Step::release, duplicate());
  Lease lease = a.mutex("x").acquire();
  EXPECT_EQ(lease.release(), ReleaseOutcome::released);
  EXPECT_TRUE(another().mutex("x").try_acquire());
}

TEST_P(Idempotence, AReleaseWhoseAnswerIsLostIsUnknownAndDone) {
  Faults faults;
  const Client a = faulty(faults);
  Lease lease = a.mutex("x", long_lease).acquire();
  faults.next(Step::release, lose_reply());
  EXPECT_THAT(lease.release(), AnyOf(ReleaseOutcome::unknown, ReleaseOutcome::released));
  EXPECT_EQ(lease.state(), LeaseState::released);
  Lease next = another().mutex("x", long_lease).acquire();
  // Whatever goes on in the background, and whoever tries again: the next holder is not touched.
  EXPECT_THAT(lease.release(), AnyOf(ReleaseOutcome::released, ReleaseOutcome::already_lost));
  ASSERT_TRUE(faults.wait_for(Step::release, 2));
  next.renew();
  EXPECT_EQ(truth("x").holders.at(0).token, next.token());
}

TEST_P(Idempotence, AReleaseThatDidNotArriveIsRepeatedByTheCaller) {
  Faults faults;
  const Client a = faulty(faults);
  Lease lease = a.mutex("x", long_lease).acquire();
  faults.always(Step::release, refuse());
  EXPECT_EQ(lease.release(), ReleaseOutcome::unknown);
  EXPECT_THAT(truth("x").holders, SizeIs(1));
  faults.clear();
  EXPECT_THAT(lease.release(), AnyOf(ReleaseOutcome::released, ReleaseOutcome::already_lost));
  EXPECT_TRUE(becomes_free("x"));
}

TEST_P(Idempotence, AReleaseThatDidNotArriveIsRepeatedInTheBackground) {
  Faults faults;
  const Client a = faulty(faults);
  Lease lease = a.mutex("x", long_lease).acquire();
  faults.next(Step::release, refuse(), 2);
  EXPECT_EQ(lease.release(), ReleaseOutcome::unknown);
  EXPECT_TRUE(becomes_free("x"));
  {
    const Lease dropped = a.mutex("y", long_lease).acquire();
    faults.next(Step::release, refuse(), 2);
  }
  EXPECT_TRUE(becomes_free("y"));
}

TEST_P(Idempotence, AReleaseThatArrivesLateFreesNobodyElse) {
  Faults faults;
  const Client a = faulty(faults, impatient());
  Lease lease = a.mutex("x", long_lease).acquire();
  faults.next(Step::release, hold_request());
  EXPECT_EQ(lease.release(), ReleaseOutcome::unknown);
  ASSERT_TRUE(becomes_free("x"));  // by the second try
  Lease next = another().mutex("x", long_lease).acquire();
  faults.let_go();
  ASSERT_TRUE(eventually([&] { return faults.calls(Step::release)[0].answered.has_value(); }));
  next.renew();
  EXPECT_EQ(truth("x").holders.at(0).token, next.token());
}

TEST_P(Idempotence, ARenewalMayArriveTwiceOrLoseItsAnswer) {
  Faults faults;
  const Client a = faulty(faults);
  Lease lease = a.mutex("x", {.ttl = long_ttl, .auto_renew = false}).acquire();
  const auto end = lease.valid_until();
  faults.next(Step::renew, lose_reply());
  EXPECT_THAT(error_of([&] { lease.renew(); }), AnyOf(errc::unknown, errc::unavailable));
  EXPECT_EQ(lease.valid_until(), end) << "only a confirmed renewal counts";
  lease.ensure_held();
  faults.next(Step::renew, duplicate());
  lease.renew();
  EXPECT_GT(lease.valid_until(), end);
  EXPECT_EQ(lease.state(), LeaseState::held);
  EXPECT_THAT(truth("x").holders, SizeIs(1));
}

TEST_P(Idempotence, AnErrorInAcquireIsNotALease) {
  Faults faults;
  const Client a = faulty(faults);
  const Lease holder = another().mutex("x").acquire();
  for (const errc code : {errc::unavailable, errc::denied, errc::unknown, errc::misconfigured}) {
    faults.next(Step::acquire, refuse(code));
    std::error_code why;
    EXPECT_FALSE(a.mutex("x").try_acquire(why));
    EXPECT_EQ(why, code);
  }
  EXPECT_EQ(truth("x").holders.at(0).token, holder.token());
}

}  // namespace
}  // namespace holdfast::test
