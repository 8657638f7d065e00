#include "completion_words.hpp"

namespace holdfast::cli {

std::string in_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text)
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  return quoted + "'";
}

std::string command_patterns(const std::vector<Completion>& all, std::string_view separator) {
  std::string patterns;
  for (const auto& command : all)
    if (command.path.find(' ') != std::string::npos)
      patterns += (patterns.empty() ? "" : std::string(separator)) + in_quotes(command.path);
  return patterns;
}

std::string help_of(const std::vector<Completion>& all, const std::string& path) {
  for (const auto& command : all)
    if (command.path == path) return command.help;
  return {};
}

}  // namespace holdfast::cli
