#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <set>

#include <holdfast/metrics.hpp>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

/// `entries[i]` entries in bucket i.
Histogram histogram(std::initializer_list<std::uint64_t> entries) {
  Histogram histogram;
  std::copy(entries.begin(), entries.end(), histogram.buckets.begin());
  histogram.count = std::accumulate(entries.begin(), entries.end(), std::uint64_t{0});
  return histogram;
}

TEST(Quantile, OfNothingIsZero) {
  EXPECT_EQ(Histogram{}.quantile(0.5), 0us);
  EXPECT_EQ(Histogram{}.quantile(1), 0us);
}

TEST(Quantile, IsTheUpperEdgeOfItsBucket) {
  const auto waits =
      histogram({0, 0, 90, 0, 9, 0, 0, 0, 0, 0, 1});  // 90 below 4us, 9 below 16us, 1 below 1024us
  EXPECT_EQ(waits.quantile(0), 4us) << "the least";
  EXPECT_EQ(waits.quantile(0.5), 4us);
  EXPECT_EQ(waits.quantile(0.9), 4us);
  EXPECT_EQ(waits.quantile(0.95), 16us);
  EXPECT_EQ(waits.quantile(0.99), 16us);
  EXPECT_EQ(waits.quantile(0.999), 1024us);
  EXPECT_EQ(waits.quantile(1), 1024us) << "the most";
}

TEST(Quantile, OneEntryIsEveryQuantile) {
  for (const double q : {0.0, 0.001, 0.5, 1.0}) EXPECT_EQ(histogram({1}).quantile(q), 1us) << q;
}

TEST(Quantile, TakesAnyNumberForQ) {
  const auto waits = histogram({1, 1});
  EXPECT_EQ(waits.quantile(-1), 1us);
  EXPECT_EQ(waits.quantile(7), 2us);
  EXPECT_EQ(waits.quantile(std::numeric_limits<double>::quiet_NaN()), 1us);
}

TEST(Quantile, SurvivesASnapshotWhoseCountRanAhead) {
  auto waits = histogram({0, 3});
  waits.count = 1000;
  EXPECT_EQ(waits.quantile(1), 2us);
}

TEST(Quantile, OfTheLongestIsFiniteAndCountsDoNotOverflow) {
  Histogram waits;
  waits.buckets.back() = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(waits.quantile(1), std::chrono::microseconds(std::int64_t{1} << 31));
}

TEST(LeaseWords, AreDistinctLabels) {
  std::set<std::string_view> reasons;
  for (std::size_t reason = 0; reason < Metrics{}.lost.size(); ++reason)
    reasons.insert(to_string(static_cast<LossReason>(reason)));
  EXPECT_EQ(reasons.size(), Metrics{}.lost.size());
  EXPECT_EQ(to_string(LossReason::session_lost), "session_lost");
  EXPECT_EQ(to_string(LeaseState::doubtful), "doubtful");
  EXPECT_EQ(to_string(ReleaseOutcome::already_lost), "already_lost");
  EXPECT_EQ(to_string(Predecessor::expired), "expired");
}

}  // namespace
}  // namespace holdfast
