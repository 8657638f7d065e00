#pragma once

#include <string_view>

namespace holdfast {

/// Semantic version of the headers in use.
inline constexpr std::string_view version = "0.1.0";

}  // namespace holdfast
