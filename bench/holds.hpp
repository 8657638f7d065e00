#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "plan.hpp"

namespace holdfast::bench {

/// One lease, as its holder saw it; instants in nanoseconds of the boot clock, which all processes
/// of a machine share. Goes through pipes as it is.
struct Hold {
  Instant::rep asked = 0;     ///< before acquire() was called
  Instant::rep acquired = 0;  ///< after it returned
  Instant::rep released = 0;  ///< before release() was called
  std::uint64_t token = 0;
  std::uint32_t who = 0;   ///< thread or process
  std::uint32_t name = 0;  ///< which resource
};

[[nodiscard]] inline Instant::rep clock_now() noexcept {
  return boot_clock::now().time_since_epoch().count();
}

/// Checks all holds of a measurement: nobody got in before the one before was out, and each got a
/// higher token.
class Ledger {
 public:
  Ledger(Breaches& breaches, std::string what) : breaches_(breaches), what_(std::move(what)) {}

  /// Takes the holds of a slice, by all who took part in it. They must have begun after those of
  /// the slices before. Sorts them by name and time.
  void check(std::vector<Hold>& holds);

 private:
  Breaches& breaches_;
  std::string what_;
  std::unordered_map<std::uint32_t, Hold> last_;  // by name
};

/// How often somebody else than the holder before got in. `holds`: of one name, in order of time.
[[nodiscard]] std::size_t changes_of_owner(const std::vector<Hold>& holds);
/// From the call of release() to the return of the acquire() of somebody else who waited already.
void hand_overs(const std::vector<Hold>& holds, std::vector<Duration>& to);

[[nodiscard]] inline Duration wait_of(const Hold& hold) noexcept {
  return Duration(hold.acquired - hold.asked);
}

}  // namespace holdfast::bench
