#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// How many columns of a terminal a text takes: wide characters two, combining ones none.
[[nodiscard]] std::size_t display_width(std::string_view text) noexcept;

/// The text with bytes that would move a terminal (control characters, broken UTF-8) shown as \xNN:
/// what a store holds may have been written by anybody.
[[nodiscard]] std::string printable(std::string_view text);

/// A table for people: aligned columns, two blanks between them, headings in capitals.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string heading;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// As many cells as there are columns.
  void row(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
  /// Lines, each with its end. A column in which no row has a word is left out.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace holdfast::cli
