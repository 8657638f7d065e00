#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace holdfast::bench {

/// Processor time of this process so far, in seconds: user and system, all threads.
[[nodiscard]] inline double cpu_seconds() noexcept {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto in_seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return in_seconds(usage.ru_utime) + in_seconds(usage.ru_stime);
}

/// Memory of this process that is in RAM now, in bytes.
[[nodiscard]] inline double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double size = 0;
  double resident = 0;
  file >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace holdfast::bench
