#pragma once

#include <optional>
#include <string>

#include "plan.hpp"

namespace holdfast::bench {

/// What a figure has to reach.
struct Goal {
  enum class Of { ratio, ours, difference } of = Of::ratio;
  enum class Must { at_least, at_most, be_below } must = Must::at_least;
  double bound = 0;

  [[nodiscard]] static Goal ratio_at_least(double bound) {
    return {Of::ratio, Must::at_least, bound};
  }
  [[nodiscard]] static Goal ratio_at_most(double bound) {
    return {Of::ratio, Must::at_most, bound};
  }
  [[nodiscard]] static Goal at_most(double bound) { return {Of::ours, Must::at_most, bound}; }
  [[nodiscard]] static Goal below(double bound) { return {Of::ours, Must::be_below, bound}; }
  /// ours - raw < bound
  [[nodiscard]] static Goal above_raw_by_less_than(double bound) {
    return {Of::difference, Must::be_below, bound};
  }

  [[nodiscard]] std::string words() const;
};

/// One figure of the result.
struct Line {
  std::string store;
  std::string name;  ///< of the case, and of the figure if it has several
  double ours = 0;
  std::optional<double> raw{};  ///< what ours is compared with
  std::string unit;
  std::optional<double> ratio{};
  std::optional<Goal> goal{};
  std::optional<double> control{};  ///< raw to raw: how far the machine can be trusted
  std::optional<bool> ok{};         ///< not judged: no goal, a quick run, or too noisy

  /// Compares with the goal, unless the control says that the figures mean little.
  void judge(const Plan& plan);
};

/// A control within it is a quiet machine.
[[nodiscard]] inline bool quiet(double control) noexcept {
  return control >= 0.98 && control <= 1.02;
}

/// One JSON object without a newline.
[[nodiscard]] std::string json(const Line& line);
[[nodiscard]] std::string table_head();
[[nodiscard]] std::string table_row(const Line& line);

}  // namespace holdfast::bench
