#pragma once

#include <chrono>

#include <holdfast/clock.hpp>

namespace holdfast {

using Instant = boot_clock::time_point;
using Duration = std::chrono::nanoseconds;

/// Both clocks behind one seam, so that tests can move time. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Monotonic and suspend-aware: decides.
  [[nodiscard]] virtual Instant now() const noexcept = 0;
  /// The time of day: for people, and to start tokens high. Never decides expiry.
  [[nodiscard]] virtual std::chrono::system_clock::time_point wall() const noexcept = 0;

  [[nodiscard]] static const Clock& system() noexcept;
};

}  // namespace holdfast
