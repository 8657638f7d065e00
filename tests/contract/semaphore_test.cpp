// Permits: never more than the limit, and each one is a lease.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class Permits : public Contract {
 protected:
  void SetUp() override { ASSERT_TRUE(admin_.capabilities().permits); }
};
HOLDFAST_ON_ALL_STORES(Permits);

TEST_P(Permits, AreCounted) {
  const Client a = client();
  const Client b = client();
  const Lease one = a.semaphore("x", 3).acquire();
  Lease two = b.semaphore("x", 3, {}, 2).acquire();
  EXPECT_FALSE(a.semaphore("x", 3).try_acquire());
  const auto info = truth("x");
  ASSERT_THAT(info.holders, SizeIs(2));
  EXPECT_EQ(info.holders[1].mode, (Mode{ModeKind::permits, 2, 3}));
  two.release();
  EXPECT_TRUE(a.semaphore("x", 3, {}, 2).try_acquire());
}

TEST_P(Permits, ComeBackToWhoeverWaitsInOrder) {
  const Client a = client();
  const Client b = client();
  const Client c = client();
  Lease two = a.semaphore("x", 2, {}, 2).acquire();
  Asking large(b.semaphore("x", 2, {}, 2));
  ASSERT_TRUE(queued("x", 1));
  Asking small(c.semaphore("x", 2));
  ASSERT_TRUE(queued("x", 2));
  two.release();
  Lease both = large.granted();
  EXPECT_FALSE(small.done(50ms)) << "a large request is not starved by small ones";
  both.release();
  EXPECT_TRUE(small.granted());
}

TEST_P(Permits, OfOneReleaseGoToAllThatFit) {
  const Client a = client();
  Lease all = a.semaphore("x", 4, {}, 4).acquire();
  std::vector<Client> clients;
  std::vector<std::unique_ptr<Asking>> waiting;
  for (std::size_t i = 0; i < 4; ++i) {
    clients.push_back(client());
    waiting.push_back(std::make_unique<Asking>(clients[i].semaphore("x", 4)));
    ASSERT_TRUE(queued("x", i + 1));
  }
  all.release();
  std::vector<Lease> leases;
  for (auto& one : waiting) leases.push_back(one->granted());
  EXPECT_THAT(truth("x").holders, SizeIs(4));
}

TEST_P(Permits, OfACrashedHolderComeBack) {
  const Client a = client();
  const Lease dead = a.semaphore("x", 1, {.ttl = short_ttl, .auto_renew = false}).acquire();
  EXPECT_TRUE(another().semaphore("x", 1).try_acquire_for(patience));
  EXPECT_EQ(dead.state(), LeaseState::lost);
}

TEST_P(Permits, HaveOneLimit) {
  const Client a = client();
  const Lease lease = a.semaphore("x", 3).acquire();
  EXPECT_EQ(error_of([&] { return another().semaphore("x", 4).try_acquire(); }),
            errc::misconfigured);
  EXPECT_THAT(words_of([&] { return another().semaphore("x", 4).try_acquire(); }),
              testing::AllOf(HasSubstr("3"), HasSubstr("4")));
  EXPECT_EQ(lease.state(), LeaseState::held);
}

TEST_P(Permits, ThatCannotBeAreRefused) {
  const Client a = client();
  EXPECT_EQ(error_of([&] { return a.semaphore("x", 0); }), errc::bad_argument);
  EXPECT_EQ(error_of([&] { return a.semaphore("x", 2, {}, 0); }), errc::bad_argument);
  EXPECT_EQ(error_of([&] { return a.semaphore("x", 2, {}, 3); }), errc::bad_argument);
}

TEST_P(Permits, ExcludeAWriter) {
  const Client a = client();
  const Lease lease = a.semaphore("x", 3).acquire();
  std::error_code why;
  EXPECT_FALSE(another().mutex("x").try_acquire(why));
  EXPECT_THAT(why, AnyOf(errc::timeout, errc::misconfigured));
}

TEST_P(Permits, AreNeverTooMany) {
  Room room(3);
  {
    std::vector<Client> clients;
    for (int i = 0; i < 3; ++i) clients.push_back(client());
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i)
      threads.emplace_back([&, i] {
        const int count = 1 + i % 2;
        const Semaphore semaphore = clients[static_cast<std::size_t>(i % 3)].semaphore(
            "x", 3, {}, static_cast<std::uint32_t>(count));
        for (int round = 0; round < rounds(80); ++round) {
          Lease lease = semaphore.acquire();
          room.enter(count);
          std::this_thread::sleep_for(100us);
          room.leave(count);
          lease.release();
        }
      });
  }
  EXPECT_EQ(room.crowded(), 0);
  EXPECT_GT(room.most(), 1);
}

}  // namespace
}  // namespace holdfast::test
