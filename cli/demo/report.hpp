#pragma once

#include <string>
#include <vector>

#include "demo/half.hpp"

namespace holdfast::cli {

/// Tells what the demo does and how it went, as a table or as JSON lines.
struct Report {
  const HalfPlan& plan;
  std::string store;  ///< as it may be shown
  bool chaos = false, json = false;
  std::vector<HalfResult> results;

  void begin() const;
  void add(const HalfResult& result);
  void end() const;
};

}  // namespace holdfast::cli
