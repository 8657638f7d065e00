#pragma once

#include <chrono>

namespace holdfast {

/// The clock that leases are measured on: monotonic, and it keeps counting while the machine is
/// suspended (CLOCK_BOOTTIME, clock_gettime(2)). A laptop that slept through a TTL wakes up knowing
/// that its leases are over. Meets *TrivialClock*; `now()` never fails. Thread-safe.
struct boot_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<boot_clock>;
  static constexpr bool is_steady = true;

  [[nodiscard]] static time_point now() noexcept;
};

}  // namespace holdfast
