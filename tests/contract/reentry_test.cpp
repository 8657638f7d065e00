// Re-entry: only when asked for, with an owner, inside one client; no new token.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class Reentry : public Contract {
 protected:
  static constexpr LeaseOptions options{.ttl = long_ttl, .owner = "order 7", .reentrant = true};
};
HOLDFAST_ON_ALL_STORES(Reentry);

TEST_P(Reentry, CountsHoldsAndTakesNoNewToken) {
  const Client a = client();
  const Mutex mutex = a.mutex("x", options);
  Lease outer = mutex.acquire();
  auto inner = mutex.try_acquire();
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->token(), outer.token());
  EXPECT_THAT(truth("x").holders, SizeIs(1));
  EXPECT_EQ(inner->release(), ReleaseOutcome::released);
  EXPECT_EQ(inner->state(), LeaseState::released);
  EXPECT_EQ(outer.state(), LeaseState::held);
  EXPECT_FALSE(another().mutex("x").try_acquire()) << "the outer hold still counts";
  EXPECT_EQ(outer.release(), ReleaseOutcome::released);
  EXPECT_TRUE(another().mutex("x").try_acquire());
}

TEST_P(Reentry, TheOuterHoldMayEndFirst) {
  const Client a = client();
  const Mutex mutex = a.mutex("x", options);
  Lease outer = mutex.acquire();
  Lease inner = mutex.acquire();
  EXPECT_EQ(outer.release(), ReleaseOutcome::released);
  EXPECT_FALSE(another().mutex("x").try_acquire());
  EXPECT_EQ(inner.state(), LeaseState::held);
  inner.renew();
  EXPECT_EQ(inner.release(), ReleaseOutcome::released);
  EXPECT_THAT(truth("x").holders, IsEmpty());
}

TEST_P(Reentry, IsForTheSameOwnerOfTheSameClientOnly) {
  const Client a = client();
  const Client b = client();
  const Lease lease = a.mutex("x", options).acquire();
  auto other = options;
  other.owner = "order 8";
  EXPECT_FALSE(a.mutex("x", other).try_acquire());
  EXPECT_FALSE(b.mutex("x", options).try_acquire())
      << "another process may have picked the same name";
  auto plain = options;
  plain.reentrant = false;
  EXPECT_FALSE(a.mutex("x", plain).try_acquire());
}

TEST_P(Reentry, OfALostLeaseIsANewOne) {
  const Client a = client();
  const Mutex mutex = a.mutex("x", options);
  Lease outer = mutex.acquire();
  Lease inner = mutex.acquire();
  admin_.revoke("x");
  EXPECT_TRUE(eventually([&] { return outer.state() == LeaseState::lost; }));
  EXPECT_EQ(inner.state(), LeaseState::lost);
  const Lease again = mutex.acquire();
  EXPECT_GT(again.token(), outer.token());
  EXPECT_EQ(inner.release(), ReleaseOutcome::already_lost);
  EXPECT_EQ(outer.release(), ReleaseOutcome::already_lost);
  EXPECT_EQ(truth("x").holders.at(0).token, again.token());
}

TEST_P(Reentry, NeedsAnOwner) {
  const Client a = client();
  EXPECT_EQ(error_of([&] { return a.mutex("x", {.reentrant = true}); }), errc::bad_argument);
}

TEST_P(Reentry, ByManyThreadsOfOneOwner) {
  const Client a = client();
  const Mutex mutex = a.mutex("x", options);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int round = 0; round < rounds(200); ++round) {
          Lease lease = mutex.acquire();
          EXPECT_EQ(lease.state(), LeaseState::held);
          EXPECT_EQ(lease.release(), ReleaseOutcome::released);
        }
      });
  }
  EXPECT_TRUE(becomes_idle("x"));
}

}  // namespace
}  // namespace holdfast::test
