#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/name.hpp"

using namespace holdfast;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

/// Table 3-7 of the Unicode standard, byte by byte: shares nothing with the code under test.
bool is_printable_utf8(std::string_view text) {
  const auto* s = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = s + text.size();
  const auto in = [](unsigned char c, int low, int high) { return c >= low && c <= high; };
  while (s != end) {
    const auto left = end - s;
    if (in(s[0], 0x20, 0x7E)) {
      s += 1;
    } else if (left >= 2 && in(s[0], 0xC2, 0xDF) && in(s[1], s[0] == 0xC2 ? 0xA0 : 0x80, 0xBF)) {
      s += 2;
    } else if (left >= 3 && in(s[0], 0xE0, 0xEF) &&
               in(s[1], s[0] == 0xE0 ? 0xA0 : 0x80, s[0] == 0xED ? 0x9F : 0xBF) &&
               in(s[2], 0x80, 0xBF)) {
      s += 3;
    } else if (left >= 4 && in(s[0], 0xF0, 0xF4) &&
               in(s[1], s[0] == 0xF0 ? 0x90 : 0x80, s[0] == 0xF4 ? 0x8F : 0xBF) &&
               in(s[2], 0x80, 0xBF) && in(s[3], 0x80, 0xBF)) {
      s += 4;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool valid = size >= 1 && size <= max_name_bytes && is_printable_utf8(text);

  const auto failure = check_name(text);
  require(!failure == valid);
  if (failure) require(is_printable_utf8(failure->words) && failure->words.size() < 1000);
  require(!check_text(text, "note", 16) == (size <= 16 && is_printable_utf8(text)));

  const auto shown = quoted(text);
  require(is_printable_utf8(shown) && shown.front() == '"' && shown.back() == '"');

  const auto names = canonical_names({std::string(text), "b", std::string(text)});
  require(names.ok() == valid);
  if (valid) require(names->size() == (text == "b" ? 1 : 2));
  return 0;
}
