#pragma once

#include <chrono>
#include <thread>

#include <holdfast/clock.hpp>

namespace holdfast::test {

using namespace std::chrono_literals;

#if defined(__SANITIZE_THREAD__)
#define HOLDFAST_TSAN 1
#elif defined(__SANITIZE_ADDRESS__)
#define HOLDFAST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HOLDFAST_TSAN 1
#elif __has_feature(address_sanitizer)
#define HOLDFAST_ASAN 1
#endif
#endif

/// How much slower this build is than a plain one: the one factor that all times are scaled by.
#if defined(HOLDFAST_TSAN)
inline constexpr int slowness = 5;
#elif defined(HOLDFAST_ASAN)
inline constexpr int slowness = 3;
#else
inline constexpr int slowness = 1;
#endif

template <class Rep, class Period>
[[nodiscard]] constexpr auto scaled(std::chrono::duration<Rep, Period> time) {
  return time * slowness;
}

/// Counts of repetitions shrink as times grow.
[[nodiscard]] constexpr int rounds(int count) { return count / slowness; }

/// How long a test waits for an event that has to come. Never reached when all is well.
inline constexpr std::chrono::milliseconds patience = scaled(20s);

/// A TTL that a test lets run out.
inline constexpr std::chrono::milliseconds short_ttl = scaled(600ms);
/// A TTL that never runs out by accident, however busy the machine is.
inline constexpr std::chrono::milliseconds long_ttl = scaled(30s);
/// How late a machine with two busy cores may run something that is due.
inline constexpr std::chrono::milliseconds lateness = scaled(1500ms);

/// Waits until a condition holds that nobody announces, such as the truth in a store.
template <class Condition>
[[nodiscard]] bool eventually(Condition&& condition, std::chrono::milliseconds limit = patience) {
  const auto end = boot_clock::now() + limit;
  for (auto pause = 200us; !condition();
       pause = std::min<std::chrono::microseconds>(2 * pause, 5ms)) {
    if (boot_clock::now() > end) return condition();
    std::this_thread::sleep_for(pause);
  }
  return true;
}

/// Lets the clock reach an instant: for time that has to pass, not for events.
inline void sleep_until(boot_clock::time_point end) {
  for (auto now = boot_clock::now(); now < end; now = boot_clock::now())
    std::this_thread::sleep_for(end - now);
}

}  // namespace holdfast::test
