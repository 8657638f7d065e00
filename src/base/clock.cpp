#include "base/clock.hpp"

#include <ctime>

#include <cstdlib>

namespace holdfast {
namespace {

class SystemClock final : public Clock {
 public:
  constexpr SystemClock() noexcept = default;
  [[nodiscard]] Instant now() const noexcept override { return boot_clock::now(); }
  [[nodiscard]] std::chrono::system_clock::time_point wall() const noexcept override {
    return std::chrono::system_clock::now();
  }
};

// Never destroyed: a lease in a static object still asks for the time while the process exits.
union Forever {
  SystemClock clock{};
  constexpr Forever() noexcept {}
  ~Forever() {}
};
constinit Forever forever;

}  // namespace

boot_clock::time_point boot_clock::now() noexcept {
  timespec time;
  // Fails only where a sandbox forbids it; a lease on a clock that stands still would never end.
  if (clock_gettime(CLOCK_BOOTTIME, &time) != 0) std::abort();
  return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

const Clock& Clock::system() noexcept { return forever.clock; }

}  // namespace holdfast
