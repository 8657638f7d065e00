#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include <holdfast/lease.hpp>

namespace holdfast {

/// Counts of durations in buckets that double: bucket i holds durations below 2^i microseconds that
/// are not in a lower one; the last one holds the rest (2^30 µs is about 18 minutes).
struct Histogram {
  std::array<std::uint64_t, 32> buckets{};
  std::uint64_t count = 0;
  std::chrono::nanoseconds sum{0};

  void add(std::chrono::nanoseconds duration) noexcept;

  /// The upper edge of the bucket that holds the q-th part (0..1) of all entries; 0 when empty.
  [[nodiscard]] std::chrono::microseconds quantile(double q) const noexcept;
};

/// What a client has done since it was made. Labels never carry resource names.
struct Metrics {
  std::uint64_t acquired = 0;   ///< leases granted, local passes included
  std::uint64_t timed_out = 0;  ///< waits that ended first, busy tries included
  std::uint64_t canceled = 0;
  std::uint64_t failed = 0;   ///< acquires that ended with any other error
  std::uint64_t unknown = 0;  ///< requests whose outcome stayed unknown
  std::uint64_t released = 0;
  std::uint64_t local_passes = 0;  ///< hand-overs inside the client, without the store
  std::uint64_t renewals = 0;      ///< leases renewed
  std::uint64_t renewal_failures = 0;
  std::uint64_t jeopardies = 0;
  std::array<std::uint64_t, 8> lost{};  ///< by LossReason
  std::uint64_t held = 0;               ///< leases held now
  std::uint64_t waiting = 0;            ///< acquires waiting now
  Histogram wait;                       ///< from the call to the grant
  Histogram hold;                       ///< from the grant to the release or loss
  Histogram renewal_slack;              ///< how long before valid_until a renewal was confirmed
};

}  // namespace holdfast
