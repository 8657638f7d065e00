#include "client/keeper.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <random>

#include "client/lane.hpp"

namespace holdfast::client {
namespace {

using namespace std::chrono_literals;

/// Virtual time, and tenures that nobody but the test touches.
class KeeperTest : public ::testing::Test {
 protected:
  Instant now{1h};
  Keeper keeper;
  std::deque<std::shared_ptr<Tenure>> tenures;

  Tenure& take(Duration ttl, bool auto_renew = true) {
    auto tenure = tenures.emplace_back(std::make_shared<Tenure>());
    tenure->auto_renew = auto_renew;
    tenure->confirm(now, ttl);
    keeper.add(*tenure);
    return *tenure;
  }
};

TEST_F(KeeperTest, RenewsAtAThirdOfTheTtl) {
  Tenure& tenure = take(30s);
  EXPECT_EQ(keeper.next_renewal(), now + 10s);
  EXPECT_TRUE(keeper.due(now + 9s).empty());
  EXPECT_EQ(keeper.due(now + 10s), std::vector<Tenure*>{&tenure});
}

TEST_F(KeeperTest, DoesNotRenewAgainWhileARenewalIsOnItsWay) {
  take(30s);
  ASSERT_EQ(keeper.due(now + 10s).size(), 1u);
  EXPECT_TRUE(keeper.due(now + 20s).empty());
}

TEST_F(KeeperTest, RenewsWhatIsDueSoonAlongWithWhatIsDue) {
  take(30s);
  now += 900ms;  // within a 30th of the TTL
  take(30s);
  now += 5s;
  take(30s);
  now = Instant{1h} + 10s;
  EXPECT_EQ(keeper.due(now).size(), 2u);
}

TEST_F(KeeperTest, TenThousandLeasesTakenOverAPeriodNeedFewBatches) {
  for (int i = 0; i < 10'000; ++i) {
    take(30s);
    now += 1ms;  // 10 s in all: one renewal period
  }
  int batches = 0;
  for (const Instant end = now + 10s; now < end;) {
    const auto batch = keeper.due(now);
    batches += !batch.empty();
    for (Tenure* tenure : batch) keeper.renewed(*tenure, now, 30s);
    now = std::max(now + 1ms, std::min(keeper.next_renewal(), end));
  }
  EXPECT_LE(batches, 12);
}

TEST_F(KeeperTest, ATransientFailureIsRetriedUntilTheDeadline) {
  Tenure& tenure = take(6s);
  now += 2s;
  int tries = 0;
  while (now < Instant(Duration(tenure.valid_until.load()))) {
    for (Tenure* due : keeper.due(now)) {
      ++tries;
      keeper.failed(*due, now);
    }
    now = keeper.next_renewal();
  }
  EXPECT_GE(tries, 10);
}

TEST_F(KeeperTest, AnOverdueRenewalIsAJeopardyLongBeforeTheLoss) {
  Tenure& tenure = take(30s);
  EXPECT_EQ(keeper.next_verdict(), now + 15s);
  const auto verdicts = keeper.judge(now + 15s);
  EXPECT_EQ(verdicts.doubtful, std::vector<Tenure*>{&tenure});
  EXPECT_TRUE(verdicts.lost.empty());
}

TEST_F(KeeperTest, LostAtValidUntilWhichLiesBeforeTheEndOfTheTtl) {
  Tenure& tenure = take(30s);
  const Instant end(Duration(tenure.valid_until.load()));
  EXPECT_EQ(end, now + 30s - 1500ms);
  EXPECT_TRUE(keeper.judge(end - 1ns).lost.empty());
  EXPECT_EQ(keeper.judge(end).lost.size(), 1u);
  EXPECT_EQ(tenure.at(end), Tenure::Standing::lost);  // also without any verdict
}

TEST_F(KeeperTest, NothingResurrectsALostTenure) {
  Tenure& tenure = take(30s);
  tenure.standing = Tenure::Standing::lost;
  keeper.renewed(tenure, now + 29s, 30s);
  EXPECT_EQ(tenure.at(now + 29s), Tenure::Standing::lost);
}

TEST_F(KeeperTest, ARenewalEndsTheDoubtAndCountsFromItsOwnBasis) {
  Tenure& tenure = take(30s);
  tenure.standing = Tenure::Standing::doubtful;
  keeper.renewed(tenure, now + 12s, 30s);
  EXPECT_EQ(tenure.at(now + 12s), Tenure::Standing::held);
  EXPECT_EQ(Instant(Duration(tenure.valid_until.load())), now + 12s + 28500ms);
}

TEST_F(KeeperTest, TheHoldLimitEndsRenewalAndTheHold) {
  Tenure& tenure = take(30s);
  tenure.hold_limit = (now + 20s).time_since_epoch().count();
  tenure.bound();
  EXPECT_EQ(keeper.next_renewal(), Instant::max());
  EXPECT_EQ(keeper.judge(now + 20s).lost.size(), 1u);
  EXPECT_EQ(tenure.loss_reason(), LossReason::hold_limit);
}

TEST_F(KeeperTest, WithoutAutoRenewNothingIsRenewedAndNothingDoubted) {
  take(30s, false);
  EXPECT_EQ(keeper.next_renewal(), Instant::max());
  EXPECT_TRUE(keeper.judge(now + 20s).doubtful.empty());
}

TEST_F(KeeperTest, TheMarginNeverEatsAShortTtl) {
  EXPECT_EQ(drift_margin(100ms), 25ms);
  EXPECT_EQ(drift_margin(1s), 50ms);
  EXPECT_EQ(drift_margin(30s), 1500ms);
}

/// Whatever happens in whatever order, no step makes a tenure that was over believe in itself
/// again, and the keeper never says later than it should that something is over.
TEST_F(KeeperTest, RandomHistoriesNeverExtendPastWhatTheStoreConfirmed) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    Keeper keeper_here;
    auto tenure = std::make_shared<Tenure>();
    tenure->confirm(now, 3s);
    keeper_here.add(*tenure);
    Instant store_end = now + 3s;
    bool over = false;
    for (Instant at = now; at < now + 20s; at += std::chrono::milliseconds(random() % 900)) {
      const auto due = keeper_here.due(at);
      if (!due.empty()) {
        if (random() % 2) {
          keeper_here.renewed(*tenure, at, 3s);
          if (!over) store_end = at + 3s;
        } else {
          keeper_here.failed(*tenure, at);
        }
      }
      for (Tenure* lost : keeper_here.judge(at).lost) lost->standing = Tenure::Standing::lost;
      if (over) {
        EXPECT_EQ(tenure->at(at), Tenure::Standing::lost);
      }
      if (tenure->at(at) != Tenure::Standing::lost) {
        EXPECT_LT(at, store_end);
      }
      over = over || tenure->at(at) == Tenure::Standing::lost;
    }
  }
}

class PassTest : public KeeperTest {
 protected:
  ClientOptions options;
  Tenure& take_block(Duration ttl) {
    Tenure& tenure = take(ttl);
    tenure.token_block = pass_block;
    return tenure;
  }
};

TEST_F(PassTest, GoesOnWhileNobodyElseWaits) {
  Tenure& tenure = take_block(30s);
  tenure.passes = 1000;
  EXPECT_TRUE(may_pass(tenure, now + 5s, options));
}

TEST_F(PassTest, NeverPassesWithoutAFreshToken) {
  Tenure& tenure = take_block(30s);
  tenure.tokens_used = pass_block;
  EXPECT_FALSE(may_pass(tenure, now, options));
}

TEST_F(PassTest, StopsAfterSoManyPassesOnceOthersWait) {
  Tenure& tenure = take_block(30s);
  tenure.contended = true;
  tenure.contended_since = now;
  tenure.passes = 63;
  EXPECT_TRUE(may_pass(tenure, now, options));
  tenure.passes = 64;
  EXPECT_FALSE(may_pass(tenure, now, options));
}

TEST_F(PassTest, StopsAfterSomeTimeOnceOthersWait) {
  Tenure& tenure = take_block(30s);
  tenure.contended = true;
  tenure.contended_since = now;
  EXPECT_TRUE(may_pass(tenure, now + 1ms, options));
  EXPECT_FALSE(may_pass(tenure, now + 2ms, options));
}

TEST_F(PassTest, LeavesAThirdOfTheTtlToTheNext) {
  Tenure& tenure = take_block(30s);
  EXPECT_TRUE(may_pass(tenure, now + 20s, options));
  EXPECT_FALSE(may_pass(tenure, now + 21s, options));
}

TEST_F(PassTest, ADoubtfulTenureGoesBackToTheStore) {
  Tenure& tenure = take_block(30s);
  tenure.standing = Tenure::Standing::doubtful;
  EXPECT_FALSE(may_pass(tenure, now, options));
}

}  // namespace
}  // namespace holdfast::client
