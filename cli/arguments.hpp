#pragma once

#include <chrono>
#include <string>

namespace holdfast::cli {

/// The duration of an option such as `--wait`. Throws Complaint, with what was meant.
[[nodiscard]] std::chrono::milliseconds duration_argument(const std::string& option,
                                                          const std::string& text);

/// Checks a resource name, or the beginning of one. Throws Complaint.
void check_name_argument(const std::string& name);
void check_text_argument(const std::string& option, const std::string& text, std::size_t max_bytes);

}  // namespace holdfast::cli
