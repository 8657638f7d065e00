// Rule 9: tokens rise strictly, whatever happens to leases, clients and records.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class Tokens : public Contract {
 protected:
  std::uint64_t last_ = 0;
  /// Each token that comes by must be higher than those before.
  void rises(std::uint64_t token) {
    EXPECT_GT(token, last_);
    last_ = token;
  }
};
HOLDFAST_ON_ALL_STORES(Tokens);

TEST_P(Tokens, RiseOverReleases) {
  const Client a = client();
  const Client b = client();
  for (int i = 0; i < 20; ++i)
    for (const Client* one : {&a, &b}) rises(one->mutex("x").acquire().token());
  EXPECT_LT(last_ >> (a.capabilities().token_bits - 1) >> 1, 1u);
}

TEST_P(Tokens, RiseOverExpiry) {
  const Client a = client();
  const Lease first = a.mutex("x", {.ttl = short_ttl, .auto_renew = false}).acquire();
  rises(first.token());
  const Lease second = another().mutex("x").acquire();
  rises(second.token());
}

TEST_P(Tokens, RiseOverExpiryOfOwnLease) {
  const Client a = client();
  const Lease first = a.mutex("x", {.ttl = short_ttl, .auto_renew = false}).acquire();
  rises(first.token());
  const Lease second = a.mutex("x").acquire();
  rises(second.token());
  EXPECT_EQ(second.predecessor(), Predecessor::expired);
}

TEST_P(Tokens, RiseOverRevocation) {
  const Client a = client();
  const Lease first = a.mutex("x").acquire();
  rises(first.token());
  const auto before = truth("x").token;
  EXPECT_EQ(admin_.revoke("x"), 1u);
  EXPECT_GT(truth("x").token, before) << "the victim's late writes could still be admitted";
  const Lease second = a.mutex("x").acquire();
  rises(second.token());
  EXPECT_EQ(admin_.revoke("idle"), 0u);
}

TEST_P(Tokens, RiseOverFailedTries) {
  const Client a = client();
  for (int i = 0; i < 5; ++i) {
    const Lease lease = a.mutex("x").acquire();
    rises(lease.token());
    EXPECT_FALSE(another().mutex("x").try_acquire());
  }
}

TEST_P(Tokens, RiseOverTheEndOfAClient) {
  for (int i = 0; i < 3; ++i) {
    const Client a = client();
    const Lease lease = a.mutex("x").acquire();
    rises(lease.token());
  }
}

TEST_P(Tokens, RiseFromReaderToReaderAndOverPermits) {
  const Client a = client();
  const Client b = client();
  {
    const Lease first = a.shared_mutex("x").shared().acquire();
    const Lease second = b.shared_mutex("x").shared().acquire();
    rises(first.token());
    rises(second.token());
  }
  ASSERT_TRUE(becomes_free("x"));
  rises(a.shared_mutex("x").acquire().token());
  ASSERT_TRUE(becomes_free("x"));
  const Lease first = a.semaphore("x", 3).acquire();
  const Lease second = b.semaphore("x", 3, {}, 2).acquire();
  rises(first.token());
  rises(second.token());
}

TEST_P(Tokens, OfSeveralNamesRiseForEach) {
  const Client a = client();
  const auto ahead = a.mutex("b").acquire().token();
  ASSERT_TRUE(becomes_free("b"));
  const Lease lease = a.mutex({"b", "a"}).acquire();
  EXPECT_EQ(lease.token(), lease.token(lease.names().front()));
  EXPECT_GT(lease.token("b"), ahead);
  EXPECT_GT(lease.token("a"), 0u);
  EXPECT_EQ(lease.token("c"), 0u);
  EXPECT_THAT(lease.names(), ElementsAre("a", "b"));
}

TEST_P(Tokens, StayTheSameWhileALeaseIsRenewed) {
  const Client a = client();
  Lease lease = a.mutex("x", {.ttl = scaled(1500ms)}).acquire();
  const auto token = lease.token();
  const auto end = lease.valid_until();
  ASSERT_TRUE(eventually([&] { return lease.valid_until() > end; }));
  lease.renew();
  EXPECT_EQ(lease.token(), token);
  EXPECT_EQ(truth("x").holders.at(0).token, token);
}

TEST_P(Tokens, OfAnEmptyLeaseAreZero) {
  Lease empty;
  EXPECT_FALSE(empty);
  EXPECT_EQ(empty.token(), 0u);
  EXPECT_EQ(empty.state(), LeaseState::released);
  EXPECT_EQ(empty.release(), ReleaseOutcome::released);
}

TEST_P(Tokens, GuardAResource) {
  const Client a = client();
  Fence fence;
  const Lease old = a.mutex("x", {.ttl = short_ttl, .auto_renew = false}).acquire();
  EXPECT_TRUE(fence.admit(old.token()));
  const Lease recent = another().mutex("x").acquire();
  EXPECT_TRUE(fence.admit(recent.token()));
  EXPECT_TRUE(fence.admit(recent.token()));
  EXPECT_FALSE(fence.admit(old.token()));
  EXPECT_EQ(fence.highest(), recent.token());
}

class TokensOfStoresThatKeep : public Tokens {};
HOLDFAST_ON_STORES_WITH(keeps, TokensOfStoresThatKeep);

TEST_P(TokensOfStoresThatKeep, RiseWhenAllClientsHaveGone) {
  for (int i = 0; i < 3; ++i) {
    admin_ = Client("memory:elsewhere");
    const Client only = client();
    rises(only.mutex("x").acquire().token());
  }
}

class TokensOfOpenStores : public Tokens {};
HOLDFAST_ON_STORES_WITH(open_to_others, TokensOfOpenStores);

TEST_P(TokensOfOpenStores, RiseOverARecordThatSomebodyDeleted) {
  const Client a = client();
  for (int i = 0; i < 3; ++i) {
    const Lease lease =
        a.mutex("x").acquire();  // the store would forget it if it had a counter a record
    rises(lease.token());
    store_->erase("x");
  }
}

TEST_P(TokensOfOpenStores, RiseOverAStoreThatCameBackEmpty) {
  {
    const Client a = client();
    for (int i = 0; i < 50; ++i) rises(a.mutex("x").acquire().token());
  }
  admin_ = Client("memory:elsewhere");
  store_->replace();
  const Client b = client();
  rises(b.mutex("x").acquire().token());
}

}  // namespace
}  // namespace holdfast::test
