#include "suggest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace holdfast::cli {
namespace {

/// How many letters have to be put in, left out or changed to get from one to the other.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    auto diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const auto changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, changed}));
    }
  }
  return row.back();
}

}  // namespace

std::string suggest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  auto least = std::max<std::size_t>(word.size() / 3, 2) + 1;
  for (const auto& candidate : known) {
    auto steps = distance(word, candidate);
    if (candidate.starts_with(word)) steps = 1;
    if (steps < least) {
      least = steps;
      best = candidate;
    }
  }
  return best;
}

}  // namespace holdfast::cli
