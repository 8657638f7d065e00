// kill -9 at any moment: no lock without an end, and the next one gets in.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class Crash : public Contract {
 protected:
  static constexpr std::chrono::milliseconds ttl = scaled(1s);
  /// Everything that the store shows ends within its TTL.
  void all_is_finite(std::chrono::milliseconds longest) {
    for (const auto& info : admin_.list())
      for (const auto& holder : info.holders) {
        EXPECT_GT(holder.expires_in, 0ms);
        EXPECT_LE(holder.expires_in, longest);
      }
  }
};
HOLDFAST_ON_STORES_WITH(several_processes, Crash);

TEST_P(Crash, OfAHolderFreesWithinItsTtl) {
  Taker holder = taker();
  holder.acquire("x", ttl);
  const Client a = client();
  Asking waiting(a.mutex("x", {.ttl = long_ttl}));
  ASSERT_TRUE(queued("x"));
  holder.process().kill();
  const auto died = boot_clock::now();
  const Lease lease = waiting.granted();
  EXPECT_LT(waiting.ended(), died + ttl + wake_up_bound());
  EXPECT_EQ(lease.predecessor(), Predecessor::expired);
}

TEST_P(Crash, OfAHolderIsSeenByANewcomerToo) {
  Taker holder = taker();
  const auto token = holder.acquire("x", ttl);
  holder.process().kill();
  const auto died = boot_clock::now();
  for (;;) {  // each one new to the store, and with no patience
    const Client newcomer = client();
    if (const auto lease = newcomer.mutex("x").try_acquire()) {
      EXPECT_GT(lease->token(), token);
      break;
    }
    ASSERT_LT(boot_clock::now(), died + ttl + wake_up_bound());
  }
}

TEST_P(Crash, OfAReaderAndOfSeveralNames) {
  Taker dead = taker();
  dead.acquire("r", ttl, "shared");
  dead.acquire("s", ttl, "permits 2 2");
  dead.process().kill();
  EXPECT_TRUE(another().shared_mutex("r").try_acquire_for(patience));
  EXPECT_TRUE(another().semaphore("s", 2, {}, 2).try_acquire_for(patience));
}

TEST_P(Crash, AtRandomPointsLeavesNoLockWithoutAnEnd) {
  const Client a = client();
  const Mutex mutex = a.mutex("x", {.ttl = long_ttl});
  std::minstd_rand random(std::random_device{}());
  std::uint64_t last = 0;
  for (int round = 0; round < std::max(rounds(20), 6); ++round) {
    Taker victim = taker();
    victim.send("churn", "x", ttl.count());
    victim.expect("churning");
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    victim.process().kill();
    all_is_finite(ttl);
    const auto died = boot_clock::now();
    auto lease = mutex.try_acquire_for(patience);
    ASSERT_TRUE(lease) << "round " << round;
    EXPECT_LT(boot_clock::now(), died + ttl + dead_waiter_bound());
    EXPECT_GT(lease->token(), last);
    last = lease->token();
    EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  }
}

TEST_P(Crash, OfManyWhoContendLeavesARunThatIsRight) {
  // Three contend; one after the other is killed and replaced; whoever survives goes on.
  const Client a = client();
  std::atomic<bool> over = false;
  std::atomic<int> turns = 0;
  Room room;
  std::jthread surviving([&] {
    const Mutex mutex = a.mutex("x", {.ttl = long_ttl});
    std::uint64_t last = 0;
    while (!over) {
      auto lease = mutex.try_acquire_for(patience);
      ASSERT_TRUE(lease);
      room.enter();
      EXPECT_GT(lease->token(), last);
      last = lease->token();
      room.leave();
      EXPECT_EQ(lease->release(), ReleaseOutcome::released);
      ++turns;
    }
  });
  std::minstd_rand random(7);
  std::vector<Taker> takers;
  for (int i = 0; i < 3; ++i) {
    takers.push_back(taker());
    takers.back().send("churn", "x", ttl.count());
  }
  for (auto& victim : takers) {
    victim.expect("churning", 2 * patience);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    const int before = turns;
    victim.process().kill();
    EXPECT_TRUE(eventually([&] { return turns > before + 1; }));
  }
  over = true;
  surviving.join();
  EXPECT_TRUE(eventually([&] {  // the places of dead waiters stay for a while, and hinder nobody
    const auto info = truth("x");
    return info.holders.empty() && std::ranges::none_of(info.waiters, &WaiterInfo::alive);
  }));
  EXPECT_TRUE(another().mutex("x").try_acquire());
}

TEST_P(Crash, OfAWaiterLeavesNoPlaceForLong) {
  const Client a = client();
  Lease holder = a.mutex("x", {.ttl = long_ttl}).acquire();
  for (int i = 0; i < 3; ++i) {
    Taker waiter = taker();
    waiter.send("acquire", "x", long_ttl.count(), (10 * patience).count());
    ASSERT_TRUE(
        eventually([&] { return !truth("x").waiters.empty() && truth("x").waiters.back().alive; }));
    waiter.process().kill();
  }
  holder.release();
  const auto released = boot_clock::now();
  EXPECT_TRUE(another().mutex("x").try_acquire_for(patience));
  EXPECT_LT(boot_clock::now(), released + dead_waiter_bound());
}

TEST_P(Crash, WhileOpeningLeavesAStoreThatCanBeOpened) {
  for (int i = 0; i < std::max(rounds(10), 3); ++i) {
    const auto fresh = GetParam().make();
    Process opening({HOLDFAST_TAKER_PATH, fresh->url()});
    std::this_thread::sleep_for(std::chrono::milliseconds(2 * i));
    opening.kill();
    const Client a(fresh->url());
    EXPECT_TRUE(a.mutex("x").try_acquire_for(patience));
  }
}

}  // namespace
}  // namespace holdfast::test
