#include "help.hpp"

#include <fmt/format.h>

#include "table.hpp"

namespace holdfast::cli {
namespace {

constexpr std::size_t line_width = 80;

/// Breaks a text at blanks into lines of which each but the first starts with `indent` blanks.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string lines;
  std::size_t column = indent;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(" \n"), text.size());
    const auto word = text.substr(0, end);
    const auto width = display_width(word);
    if (column > indent && column + 1 + width > line_width) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += width;
    if (end < text.size() && text[end] == '\n') {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string entry(const std::string& head, const std::string& text, std::size_t column) {
  const auto left = "  " + head;
  const bool fits = display_width(left) + 2 <= column;
  return left +
         (fits ? std::string(column - display_width(left), ' ') : "\n" + std::string(column, ' ')) +
         wrapped(text, column) + "\n";
}

}  // namespace

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  (void)app;
  return fmt::format("\nUsage: {} {}\n", name, usage_);
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return wrapped(app->get_description(), 0) + "\n";
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  const auto text = command->get_description();
  return entry(command->get_name(), text.substr(0, text.find_first_of(".\n")), 14);
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  auto head = make_option_name(option, is_positional);
  for (auto comma = head.find(','); comma != std::string::npos; comma = head.find(',', comma + 2))
    head.insert(comma + 1, " ");
  if (!option->get_option_text().empty()) head += " " + option->get_option_text();
  return entry(head, option->get_description(), 22);
}

std::string HelpFormatter::make_footer(const CLI::App* app) const { return app->get_footer(); }

}  // namespace holdfast::cli
