// Rules 8 and 11: every lease is finite, and a renewal proves ownership; it never re-creates.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class Renewal : public Contract {};
HOLDFAST_ON_ALL_STORES(Renewal);

TEST_P(Renewal, KeepsALeaseBeyondItsTtl) {
  const std::chrono::milliseconds ttl = scaled(1500ms);
  const Client a = client();
  const Client b = client();
  const Lease lease = a.mutex("x", {.ttl = ttl}).acquire();
  EXPECT_FALSE(b.mutex("x").try_acquire_for(ttl * 5 / 2));
  EXPECT_EQ(lease.state(), LeaseState::held);
  EXPECT_EQ(truth("x").holders.at(0).token, lease.token());
}

TEST_P(Renewal, ByHandExtends) {
  const Client a = client();
  Lease lease = a.mutex("x", {.ttl = scaled(2s), .auto_renew = false}).acquire();
  const auto first = lease.valid_until();
  for (int i = 0; i < 3; ++i) {
    const auto before = lease.valid_until();
    lease.renew();
    EXPECT_GE(lease.valid_until(), before);
  }
  EXPECT_GT(lease.valid_until(), first);
  sleep_until(first - scaled(1s));
  lease.renew();
  sleep_until(first);
  std::error_code why;
  lease.renew(why);
  EXPECT_FALSE(why) << why.message();
  EXPECT_EQ(lease.state(), LeaseState::held);
}

TEST_P(Renewal, AfterTheEndIsALoss) {
  const Client a = client();
  Lease lease = a.mutex("x", {.ttl = short_ttl, .auto_renew = false}).acquire();
  sleep_until(lease.valid_until());
  EXPECT_EQ(error_of([&] { lease.renew(); }), errc::lost);
  std::error_code why;
  lease.renew(why);
  EXPECT_EQ(why, errc::lost);
  EXPECT_TRUE(becomes_free("x"));
}

TEST_P(Renewal, AfterAnotherHasItIsALoss) {
  const Client a = client();
  Lease lease = a.mutex("x", {.ttl = short_ttl, .auto_renew = false}).acquire();
  const Lease other = another().mutex("x").acquire();
  EXPECT_EQ(error_of([&] { lease.renew(); }), errc::lost);
  EXPECT_EQ(truth("x").holders.at(0).token, other.token());
}

TEST_P(Renewal, AfterARevocationIsALossThoughNobodySaidSo) {
  Faults faults;
  const Client a = faulty(faults);
  faults.mute_events(true);
  Lease lease = a.mutex("x", {.ttl = long_ttl, .auto_renew = false}).acquire();
  EXPECT_EQ(admin_.revoke("x"), 1u);
  EXPECT_EQ(error_of([&] { lease.renew(); }), errc::lost);
  EXPECT_EQ(lease.state(), LeaseState::lost);
  EXPECT_EQ(lease.loss_reason(), LossReason::revoked);
  EXPECT_THAT(truth("x").holders, IsEmpty());
}

TEST_P(Renewal, OfARenewedLeaseCountsTheStoresTtlAnew) {
  const Client a = client();
  Lease lease = a.mutex("x", {.ttl = long_ttl, .auto_renew = false}).acquire();
  sleep_until(boot_clock::now() + 300ms);
  const auto left = truth("x").holders.at(0).expires_in;
  lease.renew();
  EXPECT_GT(truth("x").holders.at(0).expires_in, left);
  EXPECT_LE(truth("x").holders.at(0).expires_in, long_ttl);
}

TEST_P(Renewal, GoesOnWhileSeveralAreHeld) {
  const std::chrono::milliseconds ttl = scaled(1500ms);
  const Client a = client();
  const Lease several = a.mutex({"x", "y"}, {.ttl = ttl}).acquire();
  const Lease reading = a.shared_mutex("r", {.ttl = ttl}).shared().acquire();
  const Lease permit = a.semaphore("s", 2, {.ttl = ttl}).acquire();
  sleep_until(boot_clock::now() + ttl * 3 / 2);
  for (const Lease* lease : {&several, &reading, &permit}) {
    EXPECT_EQ(lease->state(), LeaseState::held);
    for (const auto& name : lease->names()) EXPECT_THAT(truth(name).holders, SizeIs(1)) << name;
  }
}

TEST_P(Renewal, EveryHolderHasAnEnd) {
  const Client a = client();
  const Client b = client();
  const LeaseOptions options{.ttl = long_ttl};
  Lease first = a.mutex("x", options).acquire();
  Asking waiting(b.mutex("x", options));
  ASSERT_TRUE(queued("x"));
  first.release();
  const Lease handed_over = waiting.granted();
  const Lease reading = a.shared_mutex("r", options).shared().acquire();
  const Lease permit = a.semaphore("s", 2, options).acquire();
  const Lease several = a.mutex({"v", "w"}, options).acquire();
  const auto all = admin_.list();
  EXPECT_THAT(all, SizeIs(5));
  for (const auto& info : all) {
    EXPECT_THAT(info.holders, SizeIs(1)) << info.name;
    for (const auto& holder : info.holders) {
      EXPECT_GT(holder.expires_in, 0ms) << info.name;
      EXPECT_LE(holder.expires_in, long_ttl) << info.name;
    }
  }
}

TEST_P(Renewal, EndsWithTheHoldLimit) {
  const std::chrono::milliseconds limit = scaled(700ms);
  const Client a = client();
  const Client b = client();
  const auto before = boot_clock::now();
  Lease lease = a.mutex("x", {.ttl = long_ttl, .max_hold = limit}).acquire();
  const auto after = boot_clock::now();
  EXPECT_LE(lease.valid_until(), after + limit);
  lease.renew();
  EXPECT_LE(lease.valid_until(), after + limit);
  Event lost;
  lease.on_loss([&](LossReason reason) {
    EXPECT_EQ(reason, LossReason::hold_limit);
    lost.set();
  });
  Asking waiting(b.mutex("x"));
  ASSERT_TRUE(lost.wait());
  EXPECT_GE(boot_clock::now(), before + limit / 2);
  EXPECT_EQ(lease.loss_reason(), LossReason::hold_limit);
  EXPECT_EQ(error_of([&] { lease.renew(); }), errc::lost);
  // Once its holder has stopped, nobody has to wait for the rest of the TTL.
  EXPECT_EQ(lease.release(), ReleaseOutcome::already_lost);
  EXPECT_TRUE(waiting.granted());
}

TEST_P(Renewal, OptionsAreCheckedAtTheDoor) {
  const Client a = client();
  const std::string long_note(257, 'n');
  const std::string long_owner(129, 'o');
  for (const LeaseOptions& bad : {LeaseOptions{.max_hold = -1ms}, LeaseOptions{.owner = long_owner},
                                  LeaseOptions{.owner = "a\nb"}, LeaseOptions{.reentrant = true},
                                  LeaseOptions{.note = long_note}, LeaseOptions{.note = "\x1b[2J"}})
    EXPECT_EQ(error_of([&] { return a.mutex("x", bad); }), errc::bad_argument);
}

class RenewalAtOpenStores : public Contract {};
HOLDFAST_ON_STORES_WITH(open_to_others, RenewalAtOpenStores);

TEST_P(RenewalAtOpenStores, NeverRecreatesWhatIsGone) {
  const Client a = client();
  Lease by_hand = a.mutex("x", {.ttl = long_ttl, .auto_renew = false}).acquire();
  Lease by_keeper = a.mutex("y", {.ttl = scaled(3s)}).acquire();
  Event lost;
  by_keeper.on_loss([&](LossReason) { lost.set(); });
  store_->erase("x");
  store_->erase("y");
  const auto end = by_keeper.valid_until();
  EXPECT_EQ(error_of([&] { by_hand.renew(); }), errc::lost);
  EXPECT_EQ(by_hand.state(), LeaseState::lost);
  ASSERT_TRUE(lost.wait());
  EXPECT_LT(boot_clock::now(), end) << "the renewal tells, before the deadline";
  EXPECT_THAT(truth("x").holders, IsEmpty());
  EXPECT_THAT(truth("y").holders, IsEmpty());
  EXPECT_EQ(by_hand.release(), ReleaseOutcome::already_lost);
  EXPECT_TRUE(another().mutex({"x", "y"}).try_acquire());
}

TEST_P(RenewalAtOpenStores, ALeaseDoesNotOutliveItsStore) {
  const Client a = client();
  Lease lease = a.mutex("x", {.ttl = scaled(2s)}).acquire();
  admin_ = Client("memory:elsewhere");
  store_->replace();
  const auto end = lease.valid_until();
  // It may be refused while clients of the old store live: with words, and not for long.
  std::optional<Client> b;
  EXPECT_TRUE(eventually([&] {
    const auto why = error_of([&] {
      b.emplace(client());
      return 0;
    });
    EXPECT_TRUE(!why || why == errc::unavailable) << why.message();
    return !why;
  }));
  const Lease other = b->mutex("x").acquire();
  EXPECT_GT(other.token(), lease.token());
  EXPECT_TRUE(eventually([&] { return lease.state() == LeaseState::lost; }));
  EXPECT_LT(boot_clock::now(), end + lateness);
  EXPECT_EQ(lease.release(), ReleaseOutcome::already_lost);
  EXPECT_EQ(b->inspect("x").holders.at(0).token, other.token());
  // And the client finds its way to the new store, or says why not.
  std::error_code why;
  const auto again = a.mutex("y").try_acquire_for(patience, why);
  EXPECT_TRUE(again || why == errc::unavailable || why == errc::misconfigured) << why.message();
}

}  // namespace
}  // namespace holdfast::test
