// Rule 5: a timeout or a cancellation that races a grant returns it or releases it, and leaves
// neither a lock nor a place in the queue.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class Cancel : public Contract {
 protected:
  /// One thread takes and gives back without pause; `waiter` is run again and again meanwhile.
  template <class Waiter>
  void race(const Client& holder, int times, Waiter&& waiter) {
    std::atomic<bool> over = false;
    std::jthread holding([&] {
      const Mutex mutex = holder.mutex("x", {.ttl = long_ttl});
      std::minstd_rand random(1);
      while (!over) {
        Lease lease = mutex.acquire();
        pause(random);
        EXPECT_EQ(lease.release(), ReleaseOutcome::released);
      }
    });
    for (int i = 0; i < times; ++i) waiter();
    over = true;
    holding.join();
    EXPECT_TRUE(becomes_idle("x"));
    EXPECT_TRUE(another().mutex("x").try_acquire_for(patience));
  }

  static std::chrono::microseconds some(std::minstd_rand& random) {
    return std::chrono::microseconds(random() % 400);
  }
  static void pause(std::minstd_rand& random) {
    const auto end = boot_clock::now() + some(random);
    while (boot_clock::now() < end) std::this_thread::yield();
  }
  static int times() { return GetParam().name == "memory" ? rounds(3000) : rounds(1000); }
};
HOLDFAST_ON_ALL_STORES(Cancel);

TEST_P(Cancel, TimeoutsRaceGrants) {
  const Client a = client();
  const Client b = client();
  const Mutex mutex = b.mutex("x", {.ttl = long_ttl});
  std::minstd_rand random(2);
  int granted = 0;
  race(a, times(), [&] {
    std::error_code why;
    if (auto lease = mutex.try_acquire_for(some(random), why)) {
      ++granted;
      EXPECT_EQ(lease->release(), ReleaseOutcome::released);
    } else {
      EXPECT_EQ(why, errc::timeout);
    }
  });
  EXPECT_GT(granted, 0);
}

TEST_P(Cancel, TimeoutsRaceGrantsInsideOneClient) {
  const Client a = client();
  const Mutex mutex = a.mutex("x", {.ttl = long_ttl});
  std::minstd_rand random(3);
  race(a, times(), [&] {
    if (auto lease = mutex.try_acquire_for(some(random))) {
      EXPECT_EQ(lease->release(), ReleaseOutcome::released);
    }
  });
}

TEST_P(Cancel, StopTokensRaceGrants) {
  const Client a = client();
  const Client b = client();
  const Mutex mutex = b.mutex("x", {.ttl = long_ttl});
  std::minstd_rand random(4);
  std::atomic<std::stop_source*> current = nullptr;
  std::atomic<bool> over = false;
  std::jthread stopper([&] {
    std::minstd_rand own(5);
    while (!over) {
      pause(own);
      if (auto* source = current.exchange(nullptr)) {
        source->request_stop();
        delete source;
      }
    }
  });
  race(a, times(), [&] {
    auto* source = new std::stop_source;
    const auto token = source->get_token();
    delete current.exchange(source);
    try {
      Lease lease = mutex.acquire(token);
      EXPECT_EQ(lease.release(), ReleaseOutcome::released);
      delete current.exchange(nullptr);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), errc::canceled);
    }
  });
  over = true;
}

TEST_P(Cancel, AsynchronousWaitsRaceGrants) {
  const Client a = client();
  const Client b = client();
  const Mutex mutex = b.mutex("x", {.ttl = long_ttl});
  std::minstd_rand random(6);
  Event done;
  int asked = 0;
  race(a, times() / 2, [&] {
    std::stop_source stop;
    ++asked;
    mutex.start_acquire(boot_clock::now() + some(random), stop.get_token(),
                        [&](std::exception_ptr, std::optional<Lease>) { done.set(); });
    pause(random);
    stop.request_stop();
    EXPECT_TRUE(done.wait(asked));
  });
  EXPECT_EQ(done.count(), asked) << "each handler is called once";
}

TEST_P(Cancel, TheEndOfAClientRacesGrants) {
  const Client a = client();
  std::minstd_rand random(7);
  race(a, times() / 20, [&] {
    std::optional<Client> b(client());
    std::jthread waiting([mutex = b->mutex("x", {.ttl = long_ttl})] {
      std::error_code why;
      const auto lease = mutex.try_acquire_for(patience, why);
      EXPECT_TRUE(lease || why == errc::closed) << why.message();
    });
    pause(random);
    b.reset();
  });
}

TEST_P(Cancel, OneOfSeveralNames) {
  const Client a = client();
  const Client b = client();
  std::minstd_rand random(8);
  const Mutex mutex = b.mutex({"w", "x", "y"}, {.ttl = long_ttl});
  race(a, times() / 2, [&] {
    if (auto lease = mutex.try_acquire_for(some(random))) {
      EXPECT_EQ(lease->release(), ReleaseOutcome::released);
    }
  });
  EXPECT_TRUE(becomes_idle("w"));
  EXPECT_TRUE(becomes_idle("y"));
}

TEST_P(Cancel, AStoppedWaitLeavesNoPlaceInTheQueue) {
  const Client a = client();
  const Client b = client();
  const Client c = client();
  Lease lease = a.mutex("x").acquire();
  Asking first(b.mutex("x"));
  ASSERT_TRUE(queued("x", 1));
  Asking second(c.mutex("x"));
  ASSERT_TRUE(queued("x", 2));
  first.stop();
  EXPECT_FALSE(first.outcome());
  EXPECT_EQ(first.error(), errc::canceled);
  EXPECT_TRUE(queued("x", 1));
  lease.release();
  EXPECT_TRUE(second.granted());
}

TEST_P(Cancel, ATokenThatWasStoppedBeforeAsksForNothing) {
  const Client a = client();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(error_of([&] { return a.mutex("x").acquire(stop.get_token()); }), errc::canceled);
  EXPECT_EQ(error_of([&] { return a.mutex("x").try_acquire_for(1s, stop.get_token()); }),
            errc::canceled);
  EXPECT_TRUE(becomes_idle("x"));
}

}  // namespace
}  // namespace holdfast::test
