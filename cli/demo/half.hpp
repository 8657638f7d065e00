#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "run/signals.hpp"

namespace holdfast::cli {

/// Under --chaos leases are short, so that a buyer can be frozen for longer.
inline constexpr std::chrono::milliseconds chaos_ttl{500};

/// What one half of the demo is to be.
struct HalfPlan {
  std::string lock;   ///< "none" or "holdfast"
  std::string shop;   ///< path of its database
  std::string store;  ///< URL; "holdfast" only
  std::int64_t items = 100;
  unsigned buyers = 8;
  bool chaos = false;
};

struct HalfResult {
  std::string lock;
  std::int64_t sold = 0, oversold = 0, rejected_writes = 0, left = 0;
  double seconds = 0;
  std::vector<std::uint32_t> waits_us;  ///< of each acquisition, sorted
  unsigned kills = 0, stops = 0;
  bool consistent = false;  ///< orders and what is left make up what was there

  [[nodiscard]] double acquisitions_per_second() const;
  [[nodiscard]] std::uint32_t wait_us(double quantile) const;
};

/// Runs the buyers as processes until all is sold. Throws Complaint, or Interrupted.
[[nodiscard]] HalfResult run_half(const HalfPlan& plan, Signals& signals);

}  // namespace holdfast::cli
