// Rule 13: passing a lease inside a client saves traffic, but never decides.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class LocalQueue : public Contract {
 protected:
  /// Threads of one client that take and give back one name until told to stop.
  struct Crowd {
    Crowd(const Client& client, int count, History* history = nullptr) {
      for (int i = 0; i < count; ++i)
        threads.emplace_back(
            [this, history, mutex = client.mutex("x"), who = "local" + std::to_string(i)] {
              while (!over) {
                History::Tenure tenure{.key = "x", .who = who, .invoked = boot_clock::now()};
                Lease lease = mutex.acquire();
                tenure.granted = boot_clock::now();
                tenure.token = lease.token();
                room.enter();
                room.leave();
                tenure.believed = boot_clock::now();
                lease.release();
                tenure.until = boot_clock::now();
                if (history) history->add(tenure);
                ++turns;
              }
            });
    }
    ~Crowd() { over = true; }
    Room room;
    std::atomic<bool> over = false;
    std::atomic<int> turns = 0;
    std::vector<std::jthread> threads;
  };
};
HOLDFAST_ON_ALL_STORES(LocalQueue);

TEST_P(LocalQueue, EachPassTakesAFreshHigherToken) {
  const Client a = client();
  History history;
  {
    Crowd crowd(a, 4, &history);
    EXPECT_TRUE(eventually([&] { return crowd.turns >= 500 && a.metrics().local_passes > 20; }));
    EXPECT_EQ(crowd.room.crowded(), 0);
  }
  EXPECT_THAT(history.check(wake_up_bound()), IsEmpty());
  // What comes after, from elsewhere, is higher than all of them.
  const Lease next = another().mutex("x").acquire();
  EXPECT_GE(truth("x").token, next.token());
  History::Tenure last{
      .key = "x", .who = "next", .token = next.token(), .invoked = boot_clock::now()};
  last.granted = last.believed = last.until = boot_clock::now();
  history.add(last);
  EXPECT_THAT(history.token_order(), IsEmpty());
}

TEST_P(LocalQueue, DoesNotStarveOthers) {
  const Client a = client();
  const Client b = client();
  Crowd crowd(a, 4);
  ASSERT_TRUE(eventually([&] { return crowd.turns > 50; }));
  const Mutex mutex = b.mutex("x");
  for (int i = 0; i < rounds(30); ++i) {
    auto lease = mutex.try_acquire_for(lateness + 2 * a.capabilities().wake_up_bound);
    ASSERT_TRUE(lease) << "round " << i;
    crowd.room.enter();
    crowd.room.leave();
    lease->release();
  }
  EXPECT_EQ(crowd.room.crowded(), 0);
}

TEST_P(LocalQueue, CanBeTurnedOff) {
  ClientOptions options;
  options.local_passes = 0;
  const Client a = client(options);
  const Client b = client();
  {
    Crowd crowd(a, 3);
    Crowd others(b, 1);
    EXPECT_TRUE(eventually([&] { return crowd.turns >= rounds(200) && others.turns > 0; }));
  }
  EXPECT_EQ(a.metrics().local_passes, 0u);
}

TEST_P(LocalQueue, ARevocationOverridesIt) {
  const Client a = client();
  Lease first = a.mutex("x", {.ttl = long_ttl}).acquire();
  Asking local(a.mutex("x", {.ttl = long_ttl}));
  EXPECT_FALSE(local.done(20ms));
  const auto token = first.token();
  EXPECT_EQ(admin_.revoke("x"), 1u);
  const Lease second = local.granted();
  EXPECT_GT(second.token(), token);
  EXPECT_EQ(truth("x").holders.at(0).token, second.token());
  EXPECT_EQ(first.state(), LeaseState::lost);
  EXPECT_EQ(first.release(), ReleaseOutcome::already_lost);
  EXPECT_EQ(truth("x").holders.at(0).token, second.token());
}

TEST_P(LocalQueue, AnExpiryOverridesIt) {
  const Client a = client();
  Lease first = a.mutex("x", {.ttl = short_ttl, .auto_renew = false}).acquire();
  Asking local(a.mutex("x", {.ttl = long_ttl}));
  const Lease second = local.granted();
  EXPECT_GT(second.token(), first.token());
  EXPECT_EQ(first.release(), ReleaseOutcome::already_lost);
  second.ensure_held();
  EXPECT_FALSE(another().mutex("x").try_acquire());
}

TEST_P(LocalQueue, ALossThatNobodyHasHeardOfIsNotPassedOnForLong) {
  // The store took the lease away, and the news is lost. The next local holder may get it, since
  // nobody knows; but it hears of the loss at its renewal, and its token is refused.
  Faults faults;
  const Client a = faulty(faults);
  faults.mute_events(true);
  const LeaseOptions options{.ttl = scaled(3s)};
  Lease first = a.mutex("x", options).acquire();
  Asking local(a.mutex("x", options));
  EXPECT_FALSE(local.done(20ms));
  EXPECT_EQ(admin_.revoke("x"), 1u);
  const Lease remote = another().mutex("x", {.ttl = long_ttl}).acquire();
  first.release();
  if (local.done(lateness)) {
    const Lease second = local.granted();
    EXPECT_LT(second.token(), remote.token()) << "a fence would admit it";
    EXPECT_TRUE(eventually([&] { return second.state() == LeaseState::lost; }));
  }
  EXPECT_EQ(truth("x").holders.at(0).token, remote.token());
}

TEST_P(LocalQueue, WaitsOfOneClientKeepTheirOwnBudgets) {
  const Client a = client();
  Lease first = a.mutex("x").acquire();
  Asking patient(a.mutex("x"));
  EXPECT_FALSE(patient.done(20ms));
  Asking hasty(a.mutex("x"), 100ms);
  EXPECT_FALSE(hasty.outcome());
  EXPECT_FALSE(patient.done());
  first.release();
  EXPECT_TRUE(patient.granted());
}

TEST_P(LocalQueue, LeasesWithOtherOptionsAreTheirOwn) {
  const Client a = client();
  Lease first = a.mutex("x", {.ttl = long_ttl, .owner = "one"}).acquire();
  Asking waiting(a.mutex("x", {.ttl = long_ttl / 2, .owner = "two", .note = "second"}));
  EXPECT_FALSE(waiting.done(20ms));
  first.release();
  const Lease second = waiting.granted();
  EXPECT_EQ(second.owner(), "two");
  EXPECT_LE(second.valid_until(), boot_clock::now() + long_ttl / 2);
}

}  // namespace
}  // namespace holdfast::test
