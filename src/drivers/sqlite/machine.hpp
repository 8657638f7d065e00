#pragma once

#include <string>

namespace holdfast::sqlite {

/// Which boot of which machine, and which view of its boot clock, this process lives in. Instants
/// of CLOCK_BOOTTIME can be compared only where all of it is equal.
struct Machine {
  std::string boot;            ///< /proc/sys/kernel/random/boot_id: another one after each boot
  std::string time_namespace;  ///< inode of /proc/self/ns/time; empty on kernels without them

  bool operator==(const Machine&) const = default;
  /// Throws Error (misconfigured) where /proc is not mounted.
  [[nodiscard]] static Machine here();
};

}  // namespace holdfast::sqlite
