#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "plan.hpp"

namespace holdfast::bench {

/// Works for about `length` and returns its rate (something per second).
using Slice = std::function<double(Duration length)>;

/// Measures several things against each other on a machine whose speed wanders: in short slices
/// that alternate, so that all of them get their share of each mood. A round is
///
///     raw  first  second …  raw        and the next one the other way round,
///
/// a ratio is formed within each round, against the mean of its two raw slices, and the median of
/// these ratios counts. The control is the same for the second raw slice against the first: what it
/// is off from 1 is noise. A noisy measurement is done again.
class Slices {
 public:
  Slices(Plan& plan, Slice raw, Duration length = std::chrono::milliseconds(50));

  /// Returns its number.
  std::size_t add(Slice slice, Duration length = std::chrono::milliseconds(50));
  /// Called before each measurement, to forget what came from the one before.
  void on_start(std::function<void()> forget) { forget_ = std::move(forget); }

  /// Measures, and again up to three times while it is noisy.
  void run(int rounds);

  static constexpr std::size_t raw = 0;
  /// The median of its rates.
  [[nodiscard]] double rate(std::size_t which) const;
  /// The median over all rounds of its rate to that of another.
  [[nodiscard]] double ratio(std::size_t which, std::size_t to = raw) const;
  [[nodiscard]] double control() const;

 private:
  struct Contender {
    Slice slice;
    Duration length;
    std::vector<double> rates{};
  };
  void measure(int rounds);

  Plan& plan_;
  std::function<void()> forget_;
  std::vector<Contender> contenders_;   // the first is raw, with the mean of its two slices
  std::vector<double> first_, second_;  // raw slices
};

/// Does `work` again and again for about `length`; looks at the clock after each `between` times.
template <class Work>
[[nodiscard]] double rate_of(Duration length, int between, Work&& work) {
  const Instant begin = boot_clock::now();
  double done = 0;
  Duration elapsed{};
  do {
    for (int i = 0; i < between; ++i) work();
    done += between;
    elapsed = boot_clock::now() - begin;
  } while (elapsed < length);
  return done / seconds(elapsed);
}

}  // namespace holdfast::bench
