// Rule 14: first come, first served; the dead are skipped, the living are not.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class Fairness : public Contract {
 protected:
  void SetUp() override {
    ASSERT_EQ(admin_.capabilities().fairness, Capabilities::Fairness::fifo)
        << "a store without it needs a trait, and these cases must not be instantiated for it";
  }
  /// One client each, so that they queue at the store and not in the client.
  std::vector<Client> clients(int count) {
    std::vector<Client> made;
    for (int i = 0; i < count; ++i) made.push_back(client());
    return made;
  }
};
HOLDFAST_ON_ALL_STORES(Fairness);

TEST_P(Fairness, FirstComeFirstServed) {
  const auto all = clients(5);
  Lease holder = another().mutex("x").acquire();
  std::vector<std::unique_ptr<Asking>> waiting;
  for (std::size_t i = 0; i < all.size(); ++i) {
    waiting.push_back(std::make_unique<Asking>(
        all[i].mutex("x", {.ttl = long_ttl, .owner = "waiter", .note = "hello"})));
    ASSERT_TRUE(queued("x", i + 1));
  }
  const auto info = truth("x");
  for (const auto& waiter : info.waiters) {
    EXPECT_TRUE(waiter.alive);
    EXPECT_EQ(waiter.owner, "waiter");
    EXPECT_EQ(waiter.note, "hello");
  }
  holder.release();
  std::uint64_t last = 0;
  for (auto& next : waiting) {
    Lease lease = next->granted();
    EXPECT_GT(lease.token(), last);
    last = lease.token();
    lease.release();
  }
}

TEST_P(Fairness, AHandOverWakesOne) {
  const auto all = clients(4);
  Lease holder = another().mutex("x").acquire();
  std::vector<std::unique_ptr<Asking>> waiting;
  for (const auto& one : all) waiting.push_back(std::make_unique<Asking>(one.mutex("x")));
  ASSERT_TRUE(queued("x", all.size()));
  holder.release();
  const auto done = [&] {
    return std::ranges::count_if(waiting, [](const auto& one) { return one->done(); });
  };
  ASSERT_TRUE(eventually([&] { return done() > 0; }));
  EXPECT_EQ(done(), 1);
  EXPECT_THAT(truth("x").waiters, SizeIs(all.size() - 1));
}

TEST_P(Fairness, ATryDoesNotOvertakeTheQueue) {
  const auto all = clients(3);
  Lease holder = all[0].mutex("x").acquire();
  Asking waiting(all[1].mutex("x"));
  ASSERT_TRUE(queued("x"));
  holder.release();
  EXPECT_FALSE(all[2].mutex("x").try_acquire()) << "handed over already";
  EXPECT_TRUE(waiting.granted());
}

TEST_P(Fairness, ALiveWaiterIsNeverEvicted) {
  // It waits for several times the time after which a dead one would have been passed over.
  const auto all = clients(3);
  const LeaseOptions brief{.ttl = scaled(1s)};
  Lease holder = all[0].mutex("x", {.ttl = long_ttl}).acquire();
  Asking first(all[1].mutex("x", brief));
  ASSERT_TRUE(queued("x", 1));
  Asking second(all[2].mutex("x", {.ttl = long_ttl}));
  ASSERT_TRUE(queued("x", 2));
  sleep_until(boot_clock::now() + 3 * brief.ttl);
  const auto info = truth("x");
  ASSERT_THAT(info.waiters, SizeIs(2));
  EXPECT_TRUE(info.waiters[0].alive);
  holder.release();
  Lease lease = first.granted();
  EXPECT_EQ(lease.state(), LeaseState::held);
  EXPECT_FALSE(second.done());
  lease.release();
  EXPECT_TRUE(second.granted());
}

TEST_P(Fairness, AHandedOverLeaseIsValid) {
  // Its validity counts from the last heartbeat; the first renewal follows at once.
  const auto all = clients(2);
  Lease holder = all[0].mutex("x").acquire();
  const std::chrono::milliseconds ttl = scaled(2s);
  Asking waiting(all[1].mutex("x", {.ttl = ttl}));
  ASSERT_TRUE(queued("x"));
  sleep_until(boot_clock::now() + ttl);
  holder.release();
  const Lease lease = waiting.granted();
  EXPECT_EQ(lease.state(), LeaseState::held);
  EXPECT_LE(lease.valid_until(), boot_clock::now() + ttl);
  const auto end = lease.valid_until();
  EXPECT_TRUE(eventually([&] { return lease.valid_until() > end; }));
}

class FairnessOfProcesses : public Fairness {};
HOLDFAST_ON_STORES_WITH(several_processes, FairnessOfProcesses);

TEST_P(FairnessOfProcesses, ADeadWaiterIsSkipped) {
  Lease holder = another().mutex("x", {.ttl = long_ttl}).acquire();
  Taker dead = taker();
  dead.send("acquire", "x", long_ttl.count(), (10 * patience).count());
  ASSERT_TRUE(queued("x", 1));
  const Client b = client();
  Asking alive(b.mutex("x", {.ttl = long_ttl}));
  ASSERT_TRUE(queued("x", 2));
  dead.process().kill();
  holder.release();
  const auto released = boot_clock::now();
  EXPECT_TRUE(alive.granted());
  EXPECT_LT(alive.ended(), released + dead_waiter_bound());
}

TEST_P(FairnessOfProcesses, AWaiterThatDiesAfterItsHandOverCostsItsTtlAtMost) {
  Lease holder = another().mutex("x", {.ttl = long_ttl}).acquire();
  Taker dead = taker();
  dead.send("acquire", "x", milliseconds(scaled(2s)).count(), (10 * patience).count());
  ASSERT_TRUE(queued("x", 1));
  const Client b = client();
  Asking alive(b.mutex("x", {.ttl = long_ttl}));
  ASSERT_TRUE(queued("x", 2));
  dead.process().pause();  // alive when it is handed the lease, as far as anybody knows
  holder.release();
  dead.process().kill();
  const auto died = boot_clock::now();
  EXPECT_TRUE(alive.granted());
  EXPECT_LT(alive.ended(), died + scaled(2s) + dead_waiter_bound());
}

TEST_P(FairnessOfProcesses, APausedWaiterIsPassedOverAndComesBack) {
  Lease holder = another().mutex("x", {.ttl = long_ttl}).acquire();
  Taker paused = taker();
  paused.send("acquire", "x", milliseconds(scaled(1s)).count(), (10 * patience).count());
  ASSERT_TRUE(queued("x", 1));
  paused.process().pause();
  const Client b = client();
  Asking other(b.mutex("x", {.ttl = long_ttl}));
  ASSERT_TRUE(queued("x", 2));
  ASSERT_TRUE(eventually([&] { return !truth("x").waiters.at(0).alive; }));
  holder.release();
  Lease lease = other.granted();
  EXPECT_THAT(truth("x").waiters, SizeIs(1)) << "it keeps its place";
  paused.process().resume();
  EXPECT_FALSE(paused.next("granted", 100ms)) << "two holders";
  lease.release();
  EXPECT_GT(paused.expect("granted").number(1), lease.token());
}

}  // namespace
}  // namespace holdfast::test
