// Readers and a writer: all readers at once, no writer starves, a downgrade leaves no gap.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class Shared : public Contract {
 protected:
  void SetUp() override { ASSERT_TRUE(admin_.capabilities().shared); }
  static constexpr LeaseOptions brief{.ttl = short_ttl, .auto_renew = false};
};
HOLDFAST_ON_ALL_STORES(Shared);

TEST_P(Shared, ReadersHoldTogether) {
  const Client a = client();
  const Client b = client();
  const auto mutex = a.shared_mutex("x");
  const Lease first = mutex.shared().acquire();
  const auto second = mutex.shared().try_acquire();
  const auto third = b.shared_mutex("x").shared().try_acquire();
  EXPECT_TRUE(second && third);
  const auto info = truth("x");
  EXPECT_THAT(info.holders, SizeIs(3));
  for (const auto& holder : info.holders) EXPECT_EQ(holder.mode.kind, ModeKind::shared);
}

TEST_P(Shared, ReadersKeepWritersOutAndAreKeptOut) {
  const Client a = client();
  const Client b = client();
  Lease reading = a.shared_mutex("x").shared().acquire();
  EXPECT_FALSE(b.shared_mutex("x").try_acquire());
  EXPECT_FALSE(b.mutex("x").try_acquire()) << "a mutex is the writer's side of the same resource";
  reading.release();
  Lease writing = b.shared_mutex("x").acquire();
  EXPECT_FALSE(a.shared_mutex("x").shared().try_acquire());
  EXPECT_FALSE(a.shared_mutex("x").try_acquire());
  writing.release();
  EXPECT_TRUE(a.shared_mutex("x").shared().try_acquire());
}

TEST_P(Shared, TheLastReaderLetsTheWriterIn) {
  const Client a = client();
  const Client b = client();
  const Client c = client();
  Lease first = a.shared_mutex("x").shared().acquire();
  Lease second = b.shared_mutex("x").shared().acquire();
  Asking writing(c.shared_mutex("x"));
  ASSERT_TRUE(queued("x"));
  first.release();
  EXPECT_FALSE(writing.done(50ms));
  second.release();
  EXPECT_TRUE(writing.granted());
}

TEST_P(Shared, AllReadersNextInLineGoAtOnce) {
  Lease writing = another().shared_mutex("x").acquire();
  std::vector<Client> clients;
  std::vector<std::unique_ptr<Asking>> reading;
  for (std::size_t i = 0; i < 5; ++i) {
    clients.push_back(client());
    reading.push_back(std::make_unique<Asking>(clients[i].shared_mutex("x").shared()));
    ASSERT_TRUE(queued("x", i + 1));
  }
  writing.release();
  std::vector<Lease> leases;  // none is given back before all have come
  for (auto& one : reading) leases.push_back(one->granted());
  EXPECT_THAT(truth("x").holders, SizeIs(5));
}

TEST_P(Shared, AReaderWaitsBehindAWaitingWriter) {
  const Client a = client();
  const Client b = client();
  const Client c = client();
  Lease first = a.shared_mutex("x").shared().acquire();
  Asking writing(b.shared_mutex("x"));
  ASSERT_TRUE(queued("x", 1));
  EXPECT_FALSE(c.shared_mutex("x").shared().try_acquire());
  Asking reading(c.shared_mutex("x").shared());
  ASSERT_TRUE(queued("x", 2));
  first.release();
  Lease writer = writing.granted();
  EXPECT_FALSE(reading.done(50ms));
  writer.release();
  EXPECT_TRUE(reading.granted());
}

TEST_P(Shared, AWriterThatGivesUpLetsTheReadersBehindItIn) {
  const Client a = client();
  const Client b = client();
  const Client c = client();
  const Lease first = a.shared_mutex("x").shared().acquire();
  Asking writing(b.shared_mutex("x"));
  ASSERT_TRUE(queued("x", 1));
  Asking reading(c.shared_mutex("x").shared());
  ASSERT_TRUE(queued("x", 2));
  writing.stop();
  EXPECT_TRUE(reading.granted());
  EXPECT_FALSE(writing.outcome());
}

TEST_P(Shared, WritersAreNotStarved) {
  const Client a = client();
  std::atomic<bool> over = false;
  std::vector<std::jthread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&, mutex = a.shared_mutex("x")] {
      while (!over) {
        const Lease lease = mutex.shared().acquire();
        std::this_thread::sleep_for(3ms);  // so that there is always one
      }
    });
  const Client b = client();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(b.shared_mutex("x").try_acquire_for(patience)) << i;
  over = true;
}

TEST_P(Shared, ADowngradeLeavesNoGap) {
  const Client a = client();
  const Client b = client();
  const Client c = client();
  Lease lease = a.shared_mutex("x", {.ttl = long_ttl}).acquire();
  const auto token = lease.token();
  Asking writing(b.shared_mutex("x"));
  ASSERT_TRUE(queued("x", 1));
  lease.downgrade();
  EXPECT_EQ(lease.state(), LeaseState::held);
  EXPECT_EQ(lease.token(), token);
  ASSERT_THAT(truth("x").holders, SizeIs(1));
  EXPECT_EQ(truth("x").holders[0].mode.kind, ModeKind::shared);
  EXPECT_FALSE(writing.done(50ms));
  lease.renew();
  EXPECT_EQ(lease.release(), ReleaseOutcome::released);
  EXPECT_GT(writing.granted().token(), token);
}

TEST_P(Shared, ADowngradeLetsReadersIn) {
  const Client a = client();
  const Client b = client();
  Lease lease = a.shared_mutex("x").acquire();
  Asking reading(b.shared_mutex("x").shared());
  ASSERT_TRUE(queued("x", 1));
  lease.downgrade();
  const Lease reader = reading.granted();
  EXPECT_THAT(truth("x").holders, SizeIs(2));
  EXPECT_EQ(lease.state(), LeaseState::held);
}

TEST_P(Shared, ADowngradeOfWhatIsLostFails) {
  const Client a = client();
  Lease lease = a.shared_mutex("x", brief).acquire();
  const Lease next = another().shared_mutex("x").acquire();
  EXPECT_EQ(error_of([&] { lease.downgrade(); }), errc::lost);
  EXPECT_EQ(truth("x").holders.at(0).token, next.token());
}

TEST_P(Shared, ADowngradedLeaseIsStillRenewed) {
  const std::chrono::milliseconds ttl = scaled(1500ms);
  const Client a = client();
  Lease lease = a.shared_mutex("x", {.ttl = ttl}).acquire();
  lease.downgrade();
  for (int i = 0; i < 3; ++i) {
    const auto end = lease.valid_until();
    ASSERT_TRUE(eventually([&] { return lease.valid_until() > end; }));
  }
  EXPECT_FALSE(another().shared_mutex("x").try_acquire());
}

TEST_P(Shared, OneReadersEndDoesNotEndAnothers) {
  const Client a = client();
  const Client b = client();
  const Lease lasting = a.shared_mutex("x", {.ttl = long_ttl}).shared().acquire();
  const Lease passing = b.shared_mutex("x", brief).shared().acquire();
  sleep_until(passing.valid_until() + short_ttl / 4);
  EXPECT_TRUE(eventually([&] { return truth("x").holders.size() == 1; }));
  EXPECT_FALSE(another().shared_mutex("x").try_acquire());
  EXPECT_EQ(lasting.state(), LeaseState::held);
}

TEST_P(Shared, SeveralNamesCanBeReadTogether) {
  const Client a = client();
  const std::vector<std::string> names{"y", "x"};
  const Lease reading = a.shared(names).acquire();
  EXPECT_THAT(reading.names(), ElementsAre("x", "y"));
  EXPECT_TRUE(another().shared_mutex("y").shared().try_acquire());
  EXPECT_FALSE(another().mutex("y").try_acquire());
}

TEST_P(Shared, ReadersAndWritersExcludeEachOther) {
  const Client a = client();
  const Client b = client();
  Room writers;
  std::atomic<int> readers = 0;
  std::atomic<int> mixed = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i)
      threads.emplace_back([&, i, mutex = (i % 2 ? a : b).shared_mutex("x")] {
        for (int round = 0; round < rounds(80); ++round)
          if (i < 3) {
            const Lease lease = mutex.shared().acquire();
            ++readers;
            std::this_thread::yield();
            --readers;
          } else {
            const Lease lease = mutex.acquire();
            writers.enter();
            mixed += readers != 0;
            std::this_thread::yield();
            mixed += readers != 0;
            writers.leave();
          }
      });
  }
  EXPECT_EQ(writers.crowded(), 0);
  EXPECT_EQ(mixed, 0);
}

}  // namespace
}  // namespace holdfast::test
