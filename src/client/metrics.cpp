#include <holdfast/metrics.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace holdfast {

void Histogram::add(std::chrono::nanoseconds duration) noexcept {
  const auto micros = std::max<std::chrono::nanoseconds::rep>(duration.count(), 0) / 1000;
  const auto bucket = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(micros)));
  ++buckets[std::min(bucket, buckets.size() - 1)];
  ++count;
  sum += duration;
}

std::chrono::microseconds Histogram::quantile(double q) const noexcept {
  // Not `count`: a snapshot taken while others record may be one entry ahead of the buckets.
  const auto total = std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0});
  if (total == 0) return std::chrono::microseconds(0);

  const double part = q > 0 ? std::min(q, 1.0) : 0.0;  // a NaN is 0
  const auto rank = std::max(1.0, std::ceil(part * static_cast<double>(total)));
  std::uint64_t seen = 0;
  std::size_t bucket = 0;
  while (static_cast<double>(seen += buckets[bucket]) < rank && bucket + 1 < buckets.size())
    ++bucket;
  // The last bucket has no upper edge: we show the next power.
  return std::chrono::microseconds(std::int64_t{1} << bucket);
}

}  // namespace holdfast
