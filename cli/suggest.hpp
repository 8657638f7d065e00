#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// The one of `known` that `word` may have meant, or an empty text.
[[nodiscard]] std::string suggest(std::string_view word, const std::vector<std::string>& known);

}  // namespace holdfast::cli
