#include "base/redact.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace holdfast {
namespace {

constexpr auto npos = std::string_view::npos;

struct Span {
  std::size_t begin, end;
};

bool is_alpha(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Decodes what is well encoded and keeps the rest: an ill-formed URL has secrets too.
std::string decode_leniently(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && text.size() - i > 2 &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      decoded += static_cast<char>(byte);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

std::vector<Span> secret_spans(std::string_view text) {
  std::vector<Span> spans;
  const auto at = text.rfind('@');
  const auto colon = text.find(':', authority_offset(text));
  if (at != npos && colon < at) spans.push_back({colon + 1, at});
  for (auto mark = text.find_first_of("?&"); mark != npos;
       mark = text.find_first_of("?&", mark + 1)) {
    const auto name_end = text.find_first_of("=?&", mark + 1);
    if (name_end == npos || text[name_end] != '=') continue;
    if (!is_secret_option(decode_leniently(text.substr(mark + 1, name_end - mark - 1)))) continue;
    spans.push_back({name_end + 1, std::min(text.find('&', name_end), text.size())});
  }
  return spans;
}

}  // namespace

std::size_t authority_offset(std::string_view text) noexcept {
  const auto end = std::find_if_not(text.begin(), text.end(), [](char c) {
    return is_alpha(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
  const auto scheme = static_cast<std::size_t>(end - text.begin());
  return scheme > 0 && is_alpha(text.front()) && text.substr(scheme).starts_with("://") ? scheme + 3
                                                                                        : 0;
}

bool is_secret_option(std::string_view name) {
  static constexpr std::array<std::string_view, 6> words{"pass",   "pwd", "token",
                                                         "secret", "key", "credential"};
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

std::string redact_url(std::string_view text) {
  auto spans = secret_spans(text);
  std::sort(spans.begin(), spans.end(), [](Span a, Span b) { return a.begin < b.begin; });
  std::string shown;
  std::size_t done = 0;
  for (const auto [begin, end] : spans) {
    if (end <= done || begin == end) continue;
    if (begin >= done) shown.append(text, done, begin - done).append("***");
    done = end;
  }
  return shown.append(text.substr(done));
}

}  // namespace holdfast
