#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace holdfast::bench {

/// The value below which a part `q` (0..1) of all lies; zero if there are none.
template <class T>
[[nodiscard]] T quantile(std::vector<T> values, double q) {
  if (values.empty()) return T{};
  const auto at =
      std::min(values.size() - 1, static_cast<std::size_t>(q * static_cast<double>(values.size())));
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

template <class T>
[[nodiscard]] T median(std::vector<T> values) {
  return quantile(std::move(values), 0.5);
}

}  // namespace holdfast::bench
