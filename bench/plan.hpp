#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace holdfast::bench {

/// How a run is to be done.
struct Plan {
  double scale = 1;       ///< of all durations
  bool quick = false;     ///< short and without verdicts, but with all checks
  std::string directory;  ///< where files are made, and removed again
  Duration spare{};       ///< what is left of the time for measuring again what was noisy

  [[nodiscard]] Duration span(Duration wanted) const noexcept {
    const double factor = quick ? 0.1 : std::clamp(scale, 0.01, 100.0);
    return std::chrono::duration_cast<Duration>(wanted * factor);
  }
};

/// What must never happen, in words: two holders at once, a token that does not rise. Any of it
/// fails the run, however fast it was.
class Breaches {
 public:
  void add(std::string words) {
    if (words_.size() < 20) words_.push_back(std::move(words));
  }
  [[nodiscard]] const std::vector<std::string>& words() const noexcept { return words_; }

 private:
  std::vector<std::string> words_;
};

inline double seconds(Duration time) noexcept {
  return std::chrono::duration<double>(time).count();
}

inline double milliseconds_of(Duration time) noexcept { return seconds(time) * 1e3; }

}  // namespace holdfast::bench
