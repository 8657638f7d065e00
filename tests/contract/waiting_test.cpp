// Rule 7: watch first, then try, then wait; no wake-up is lost, and waits end when they should.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class Waiting : public Contract {};
HOLDFAST_ON_ALL_STORES(Waiting);

TEST_P(Waiting, EndsWithTheRelease) {
  const Client a = client();
  const Client b = client();
  Lease lease = a.mutex("x").acquire();
  Asking asking(b.mutex("x"));
  ASSERT_TRUE(queued("x"));
  EXPECT_FALSE(asking.done());
  lease.release();
  const auto released = boot_clock::now();
  const Lease next = asking.granted();
  EXPECT_LT(asking.ended(), released + wake_up_bound());
  EXPECT_EQ(next.predecessor(), Predecessor::released);
  EXPECT_EQ(next.state(), LeaseState::held);
}

TEST_P(Waiting, EndsWithItsBudget) {
  const Client a = client();
  const Client b = client();
  const Lease lease = a.mutex("x").acquire();
  for (const Client* one : {&b, &a}) {
    const auto before = boot_clock::now();
    std::error_code why;
    EXPECT_FALSE(one->mutex("x").try_acquire_for(150ms, why));
    EXPECT_EQ(why, errc::timeout);
    EXPECT_GE(boot_clock::now(), before + 150ms);
    EXPECT_LT(boot_clock::now(), before + 150ms + lateness);
  }
  EXPECT_TRUE(queued("x", 0));
}

TEST_P(Waiting, OfNothingIsOneTry) {
  const Client a = client();
  Lease lease = a.mutex("x").acquire();
  const Client b = client();
  const auto tries = [&](const Mutex& m) {
    return std::array{
        m.try_acquire().has_value(),
        m.try_acquire_for(0s).has_value(),
        m.try_acquire_for(-5min).has_value(),
        m.try_acquire_until(boot_clock::now() - 1s).has_value(),
        m.try_acquire_until(std::chrono::steady_clock::now() - 1h).has_value(),
        m.try_acquire_until(std::chrono::system_clock::time_point()).has_value(),
    };
  };
  EXPECT_THAT(tries(b.mutex("x")), testing::Each(false));
  lease.release();
  EXPECT_TRUE(b.mutex("1").try_acquire_for(0s));
  EXPECT_TRUE(b.mutex("2").try_acquire_for(-5min));
  EXPECT_TRUE(b.mutex("3").try_acquire_until(boot_clock::now() - 1s));
}

TEST_P(Waiting, TakesAnyClockAndAnyLength) {
  const Client a = client();
  const Client b = client();
  const Mutex mutex = b.mutex("x");
  const auto waits = std::to_array<std::function<std::optional<Lease>()>>({
      [&] { return mutex.try_acquire_for(std::chrono::hours::max()); },
      [&] { return mutex.try_acquire_for(std::chrono::nanoseconds::max()); },
      [&] { return mutex.try_acquire_for(std::chrono::duration<double>(1e300)); },
      [&] { return mutex.try_acquire_until(std::chrono::system_clock::now() + 1h); },
      [&] { return mutex.try_acquire_until(std::chrono::steady_clock::now() + 1h); },
      [&] { return std::optional(mutex.acquire()); },
  });
  for (const auto& wait : waits) {
    Lease lease = a.mutex("x").acquire();
    auto waiting = std::async(std::launch::async, wait);
    EXPECT_TRUE(queued("x"));
    lease.release();
    ASSERT_EQ(waiting.wait_for(patience), std::future_status::ready);
    auto next = waiting.get();
    ASSERT_TRUE(next);
    next->release();
  }
}

TEST_P(Waiting, EndsWithTheExpiryOfTheHolder) {
  const Client a = client();
  const Lease lease = a.mutex("x", {.ttl = short_ttl, .auto_renew = false}).acquire();
  const Client b = client();
  Asking waiting(b.mutex("x"));
  const Lease next = waiting.granted();
  EXPECT_GE(waiting.ended(), lease.valid_until());
  EXPECT_LT(waiting.ended(), lease.valid_until() + short_ttl + wake_up_bound());
  EXPECT_EQ(lease.state(), LeaseState::lost);
  EXPECT_EQ(next.predecessor(), Predecessor::expired);
}

TEST_P(Waiting, EndsWithARevocation) {
  const Client a = client();
  const Client b = client();
  const Lease lease = a.mutex("x", {.ttl = long_ttl}).acquire();
  Asking waiting(b.mutex("x"));
  ASSERT_TRUE(queued("x"));
  EXPECT_EQ(admin_.revoke("x"), 1u);
  EXPECT_EQ(waiting.granted().predecessor(), Predecessor::revoked);
}

TEST_P(Waiting, PredecessorIsToldToWhoDidNotWait) {
  const Client a = client();
  EXPECT_EQ(a.mutex("x").acquire().predecessor(), Predecessor::none);
  ASSERT_TRUE(becomes_free("x"));
  Lease second = a.mutex("x").acquire();
  EXPECT_EQ(second.predecessor(), Predecessor::released);
  admin_.revoke("x");
  EXPECT_EQ(a.mutex("x").acquire().predecessor(), Predecessor::revoked);
}

TEST_P(Waiting, AReleaseAtTheMomentOfAskingIsNotMissed) {
  // The waiter asks at some moment around the release: before, during, after.
  const Client a = client();
  const Client b = client();
  const Mutex holding = a.mutex("x", {.ttl = long_ttl});
  const Mutex waiting = b.mutex("x", {.ttl = long_ttl});
  const int times = rounds(GetParam().name == "memory" ? 5000 : 1000);
  std::minstd_rand random(1);
  std::atomic<int> round = 0;
  std::atomic<int> released = 0;
  std::jthread releasing([&] {
    std::minstd_rand own(2);
    for (int i = 1; i <= times; ++i) {
      Lease lease = holding.acquire();
      round = i;
      round.notify_one();
      const auto end = boot_clock::now() + std::chrono::microseconds(own() % 200);
      while (boot_clock::now() < end) continue;
      EXPECT_EQ(lease.release(), ReleaseOutcome::released);
      for (int seen; (seen = released) < i;) released.wait(seen);
    }
  });
  std::chrono::nanoseconds longest{0};
  for (int i = 1; i <= times; ++i) {
    for (int seen; (seen = round) < i;) round.wait(seen);
    const auto start = boot_clock::now();
    while (boot_clock::now() < start + std::chrono::microseconds(random() % 200)) continue;
    const auto before = boot_clock::now();
    auto lease = waiting.try_acquire_for(patience);
    longest = std::max<std::chrono::nanoseconds>(longest, boot_clock::now() - before);
    EXPECT_TRUE(lease) << "round " << i;
    lease.reset();
    released = i;
    released.notify_one();
  }
  EXPECT_LT(longest, wake_up_bound());
}

TEST_P(Waiting, ThousandsOfHandOversLoseNone) {
  const int each = rounds(GetParam().name == "memory" ? 1500 : 400);
  History history;
  Room room;
  {
    std::vector<Client> clients;
    ClientOptions options;
    options.local_passes = 0;
    for (int i = 0; i < 4; ++i) clients.push_back(client(options));
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < clients.size(); ++i)
      threads.emplace_back([&, mutex = clients[i].mutex("x"), who = "client" + std::to_string(i)] {
        for (int round = 0; round < each; ++round) {
          History::Tenure tenure{.key = "x", .who = who, .invoked = boot_clock::now()};
          auto lease = mutex.try_acquire_for(patience);
          ASSERT_TRUE(lease);
          room.enter();
          tenure.granted = boot_clock::now();
          tenure.token = lease->token();
          room.leave();
          tenure.believed = boot_clock::now();
          lease->release();
          tenure.until = boot_clock::now();
          history.add(tenure);
        }
      });
  }
  EXPECT_EQ(room.crowded(), 0);
  EXPECT_THAT(history.check(wake_up_bound()), IsEmpty());
}

TEST_P(Waiting, AsynchronouslyEndsWithALeaseANothingOrAnError) {
  const Client a = client();
  const Client b = client();
  struct Outcome {
    std::exception_ptr error;
    std::optional<Lease> lease;
    std::thread::id thread;
  };
  Inbox<Outcome> outcomes;
  const auto done = [&](std::exception_ptr error, std::optional<Lease> lease) {
    outcomes.put({std::move(error), std::move(lease), std::this_thread::get_id()});
  };
  b.mutex("x").start_acquire(boot_clock::time_point::min(), {}, done);
  auto outcome = outcomes.take();
  ASSERT_TRUE(outcome && outcome->lease);
  b.mutex("x").start_acquire(boot_clock::now() + 20ms, {}, done);
  auto second = outcomes.take();
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->lease);
  EXPECT_FALSE(second->error);
  std::stop_source stop;
  a.mutex("x").start_acquire(boot_clock::time_point::max(), stop.get_token(), done);
  ASSERT_TRUE(queued("x"));
  stop.request_stop();
  auto third = outcomes.take();
  ASSERT_TRUE(third && third->error);
  EXPECT_EQ(error_of([&] { std::rethrow_exception(third->error); }), errc::canceled);
  a.mutex("x").start_acquire(boot_clock::time_point::max(), {}, done);
  ASSERT_TRUE(queued("x"));
  outcome->lease->release();
  auto fourth = outcomes.take();
  ASSERT_TRUE(fourth && fourth->lease);
  EXPECT_NE(fourth->thread, std::this_thread::get_id());
}

class WaitingAtOpenStores : public Contract {};
HOLDFAST_ON_STORES_WITH(open_to_others, WaitingAtOpenStores);

TEST_P(WaitingAtOpenStores, EndsThoughNobodyAnnouncesTheDeletionOfTheRecord) {
  const Client a = client();
  const Client b = client();
  const Lease lease = a.mutex("x", {.ttl = scaled(3s)}).acquire();
  Asking waiting(b.mutex("x", {.ttl = long_ttl}));
  ASSERT_TRUE(queued("x"));
  store_->erase("x");
  const auto erased = boot_clock::now();
  const Lease next = waiting.granted();
  EXPECT_LT(waiting.ended(), erased + dead_waiter_bound() + wake_up_bound());
  EXPECT_TRUE(eventually([&] { return lease.state() == LeaseState::lost; }, long_ttl));
}

}  // namespace
}  // namespace holdfast::test
