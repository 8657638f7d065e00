#include "table.hpp"

#include <algorithm>
#include <cwchar>

#include "base/name.hpp"

namespace holdfast::cli {
namespace {

/// Leaves at least one byte behind it, also in broken text.
std::size_t read_point(std::string_view text, wchar_t& point) noexcept {
  std::mbstate_t state{};
  const auto size = std::mbrtowc(&point, text.data(), text.size(), &state);
  if (size == 0 || size > text.size()) return 0;
  return size;
}

std::string padded(const std::string& text, std::size_t width, Table::Align align) {
  const std::string fill(width - std::min(width, display_width(text)), ' ');
  return align == Table::Align::left ? text + fill : fill + text;
}

}  // namespace

std::size_t display_width(std::string_view text) noexcept {
  std::size_t width = 0;
  while (!text.empty()) {
    wchar_t point = 0;
    const auto size = read_point(text, point);
    const int columns = size == 0 ? 1 : ::wcwidth(point);
    width += columns < 0 ? 1 : static_cast<std::size_t>(columns);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return width;
}

std::string printable(std::string_view text) {
  if (!check_text(text, "text", text.size())) return std::string(text);
  // quoted() escapes what is not printable; its quotes and escaped quotes are not wanted here.
  const auto shown = holdfast::quoted(text, text.size());
  return shown.substr(1, shown.size() - 2);
}

void Table::row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  std::transform(cells.begin(), cells.end(), cells.begin(), printable);
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> shown, widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = 0;
    for (const auto& cells : rows_) width = std::max(width, display_width(cells[i]));
    if (width == 0 && !rows_.empty()) continue;
    shown.push_back(i);
    widths.push_back(std::max(width, display_width(columns_[i].heading)));
  }

  std::string text;
  const auto line = [&](auto&& cell) {
    std::string joined;
    for (std::size_t n = 0; n < shown.size(); ++n) {
      if (n > 0) joined += "  ";
      joined += padded(cell(shown[n]), widths[n], columns_[shown[n]].align);
    }
    joined.erase(joined.find_last_not_of(' ') + 1);
    text += joined + "\n";
  };
  line([&](std::size_t i) -> const std::string& { return columns_[i].heading; });
  for (const auto& cells : rows_)
    line([&](std::size_t i) -> const std::string& { return cells[i]; });
  return text;
}

}  // namespace holdfast::cli
