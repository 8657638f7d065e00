#include "base/name.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace holdfast {
namespace {

constexpr std::size_t max_names = 64;
constexpr char hex_digits[] = "0123456789ABCDEF";

std::string hex(std::uint32_t value, int digits) {
  std::string text;
  while (digits-- > 0) text += hex_digits[(value >> (4 * static_cast<unsigned>(digits))) & 0xFU];
  return text;
}

struct Point {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  ///< 0: not UTF-8
};

/// The first code point of a text that is not empty (RFC 3629: no overlong forms, no surrogates).
Point first_point(std::string_view text) noexcept {
  struct Form {
    std::uint32_t mask, lead, smallest;
  };
  static constexpr std::array<Form, 4> forms{
      {{0x80, 0x00, 0x0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}}};

  const std::uint32_t lead = static_cast<std::uint8_t>(text.front());
  for (std::size_t more = 0; more < forms.size(); ++more) {
    const Form& form = forms[more];
    if ((lead & form.mask) != form.lead) continue;
    if (text.size() <= more) return {};
    std::uint32_t value = lead & ~form.mask;
    for (std::size_t i = 1; i <= more; ++i) {
      const std::uint32_t byte = static_cast<std::uint8_t>(text[i]);
      if ((byte & 0xC0) != 0x80) return {};
      value = (value << 6) | (byte & 0x3F);
    }
    const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < form.smallest || surrogate || value > 0x10FFFF) return {};
    return {value, more + 1};
  }
  return {};
}

bool is_control(std::uint32_t point) noexcept {
  return point < 0x20 || (point >= 0x7F && point < 0xA0);
}

/// What is wrong with the text, as the end of a sentence that starts with it; empty if nothing is.
std::string fault(std::string_view text, std::size_t max_bytes) {
  if (text.size() > max_bytes)
    return "has " + std::to_string(text.size()) + " bytes; at most " + std::to_string(max_bytes) +
           " are allowed";
  for (std::size_t at = 0; at < text.size();) {
    const Point point = first_point(text.substr(at));
    if (point.bytes == 0)
      return "is not UTF-8: byte 0x" + hex(static_cast<std::uint8_t>(text[at]), 2) + " at offset " +
             std::to_string(at);
    if (is_control(point.value))
      return "has the control character U+" + hex(point.value, 4) + " at offset " +
             std::to_string(at) + "; control characters are not allowed";
    at += point.bytes;
  }
  return {};
}

}  // namespace

std::optional<Failure> check_name(std::string_view name, std::size_t max_bytes) {
  if (name.empty())
    return Failure{errc::bad_name,
                   "the resource name is empty: give it one, such as order:payment:1"};
  if (auto words = fault(name, max_bytes); !words.empty())
    return Failure{errc::bad_name, "the resource name " + quoted(name) + " " + words};
  return std::nullopt;
}

std::optional<Failure> check_text(std::string_view text, std::string_view what,
                                  std::size_t max_bytes) {
  if (auto words = fault(text, max_bytes); !words.empty())
    return Failure{errc::bad_argument, std::string(what) + " " + quoted(text) + " " + words};
  return std::nullopt;
}

Result<std::vector<std::string>> canonical_names(std::vector<std::string> names) {
  for (const auto& name : names)
    if (auto failure = check_name(name)) return *std::move(failure);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.empty())
    return Failure{errc::bad_argument, "no resource name is given: at least one is needed"};
  if (names.size() > max_names)
    return Failure{errc::bad_argument, std::to_string(names.size()) +
                                           " resource names are given; at most " +
                                           std::to_string(max_names) + " can be taken at once"};
  return names;
}

std::string quoted(std::string_view text, std::size_t max_characters) {
  std::string shown = "\"";
  for (std::size_t at = 0, characters = 0; at < text.size(); ++characters) {
    if (characters == max_characters) {
      shown += "…";
      break;
    }
    const Point point = first_point(text.substr(at));
    const auto bytes = text.substr(at, std::max<std::size_t>(point.bytes, 1));
    if (point.bytes == 0 || is_control(point.value)) {
      for (const char byte : bytes) shown += "\\x" + hex(static_cast<std::uint8_t>(byte), 2);
    } else {
      if (bytes == "\"" || bytes == "\\") shown += '\\';
      shown += bytes;
    }
    at += bytes.size();
  }
  return shown += '"';
}

}  // namespace holdfast
