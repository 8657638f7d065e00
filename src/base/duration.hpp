#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace holdfast {

/// Reads `500ms`, `10s`, `5m`, `2h`, `1m30s`, `1.25ms`, `0`: numbers with units us, ms, s, m, h,
/// largest first; the last may have a fraction of whole microseconds. At most 10 years. A failure's
/// words show what was meant ("did you mean 10s?").
[[nodiscard]] Result<std::chrono::microseconds> parse_duration(std::string_view text);

/// The shortest form that people read: `250ms`, `10s`, `1m30s`, `1.25ms`, `18us`. Above 1 ms it is
/// rounded to microseconds, and parse_duration() reads it back.
[[nodiscard]] std::string format_duration(std::chrono::nanoseconds duration);

}  // namespace holdfast
