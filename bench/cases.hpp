#pragma once

#include <string_view>
#include <vector>

#include "line.hpp"
#include "plan.hpp"

namespace holdfast::bench {

/// Something that is measured, and gives one figure or a few.
struct Case {
  std::string_view store;
  std::string_view name;
  std::vector<Line> (*run)(Plan&, Breaches&);
};

// Each store has a folder here, which is compiled where the store is built; main.cpp lists them.
[[nodiscard]] std::vector<Case> memory_cases();
[[nodiscard]] std::vector<Case> sqlite_one_thread_cases();
[[nodiscard]] std::vector<Case> sqlite_thread_cases();
[[nodiscard]] std::vector<Case> sqlite_process_cases();
[[nodiscard]] std::vector<Case> sqlite_lease_cases();

}  // namespace holdfast::bench
