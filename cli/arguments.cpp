#include "arguments.hpp"

#include "base/duration.hpp"
#include "base/name.hpp"
#include "message.hpp"

namespace holdfast::cli {

std::chrono::milliseconds duration_argument(const std::string& option, const std::string& text) {
  const auto parsed = parse_duration(text);
  if (!parsed) throw Complaint(usage, option, parsed.failure().words);
  return std::chrono::ceil<std::chrono::milliseconds>(parsed.value());
}

void check_name_argument(const std::string& name) {
  if (const auto failure = check_name(name)) throw Complaint(usage, "name", failure->words);
}

void check_text_argument(const std::string& option, const std::string& text,
                         std::size_t max_bytes) {
  if (const auto failure = check_text(text, "the text", max_bytes))
    throw Complaint(usage, option, failure->words);
}

}  // namespace holdfast::cli
