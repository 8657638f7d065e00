#include "base/duration.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/name.hpp"

namespace holdfast {
namespace {

constexpr std::uint64_t longest = 10ULL * 365 * 24 * 3600 * 1'000'000;  // 10 years in microseconds

struct Unit {
  std::string_view name;
  std::uint64_t us;
};
constexpr std::array<Unit, 5> units{
    {{"us", 1}, {"ms", 1'000}, {"s", 1'000'000}, {"m", 60'000'000}, {"h", 3'600'000'000}}};

// What people write and mean, in lower case and singular; never accepted, only proposed.
constexpr std::array<Unit, 14> synonyms{{{"", 1'000'000},
                                         {"\u00b5s", 1},
                                         {"\u03bcs", 1},
                                         {"usec", 1},
                                         {"msec", 1'000},
                                         {"milli", 1'000},
                                         {"millisecond", 1'000},
                                         {"sec", 1'000'000},
                                         {"second", 1'000'000},
                                         {"min", 60'000'000},
                                         {"minute", 60'000'000},
                                         {"hour", 3'600'000'000},
                                         {"d", 86'400'000'000},
                                         {"day", 86'400'000'000}}};

template <class Units>
std::uint64_t length_of(const Units& known, std::string_view name) noexcept {
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const Unit& u) { return u.name == name; });
  return found == known.end() ? 0 : found->us;
}

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// How far a reader goes to guess what was meant.
enum class Reading { strict, guess };

/// Sums up the parts of a duration. On failure `fault` says what is wrong with it.
struct Reader {
  Reading reading;
  std::string fault{};
  std::uint64_t sum = 0;

  bool fail(std::string words) {
    fault = std::move(words);
    return false;
  }

  bool read(std::string_view text) {
    if (text.empty()) return fail("is empty");
    if (reading == Reading::strict && text == "0") return true;
    std::uint64_t last_unit = UINT64_MAX;
    bool whole = true;
    while (!text.empty()) {
      const auto number = take(text, [](char c) { return is_digit(c) || c == '.'; });
      const auto unit_name = take(text, [](char c) { return !is_digit(c) && c != '.'; });
      if (number.empty()) return fail("does not start with a number");
      const auto unit = unit_of(unit_name);
      if (unit == 0)
        return fail(unit_name.empty() ? "has no unit"
                                      : "has the unknown unit " + quoted(unit_name));
      if (reading == Reading::strict && unit >= last_unit)
        return fail("must go from large units to small ones, each once");
      if (reading == Reading::strict && !whole) return fail("has a fraction before its last unit");
      last_unit = unit;
      whole = number.find('.') == std::string_view::npos;
      if (!add(number, unit)) return false;
    }
    return true;
  }

 private:
  template <class Belongs>
  static std::string_view take(std::string_view& text, Belongs belongs) {
    const auto end = std::find_if_not(text.begin(), text.end(), belongs);
    const auto size = static_cast<std::size_t>(end - text.begin());
    const auto taken = text.substr(0, size);
    text.remove_prefix(size);
    return taken;
  }

  [[nodiscard]] std::uint64_t unit_of(std::string_view name) const noexcept {
    auto length = length_of(units, name);
    if (reading == Reading::strict) return length;
    if (length == 0) length = length_of(synonyms, name);
    if (length == 0 && name.ends_with('s'))
      length = length_of(synonyms, name.substr(0, name.size() - 1));
    return length;
  }

  bool add(std::string_view number, std::uint64_t unit) {
    const auto point = number.find('.');
    const auto too_long = [this] { return fail("is longer than 10 years"); };
    std::uint64_t value = 0;
    for (const char c : number.substr(0, point)) {
      value = 10 * value + static_cast<std::uint64_t>(c - '0');
      if (value > longest / unit) return too_long();
    }
    value *= unit;
    if (point != std::string_view::npos) {
      const auto digits = number.substr(point + 1);
      if (point == 0 || digits.empty() || digits.find('.') != std::string_view::npos)
        return fail("has a malformed number " + quoted(number));
      for (std::uint64_t place = unit; const char c : digits) {
        place = place % 10 == 0 ? place / 10 : 0;
        if (c != '0' && place == 0) return fail("is finer than 1us");
        value += place * static_cast<std::uint64_t>(c - '0');
      }
    }
    sum += value;
    return sum <= longest || too_long();
  }
};

std::string proposal(std::string_view text) {
  if (text.size() > 64) return {};
  std::string plain;
  for (const char c : text)
    if (c != ' ' && c != '_') plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  Reader reader{Reading::guess};
  if (!reader.read(plain)) return {};
  return ": did you mean " + format_duration(std::chrono::microseconds(reader.sum)) + "?";
}

/// `value` units and thousandths of it (or millionths), without needless zeros.
std::string decimal(std::uint64_t value, std::uint64_t one) {
  auto text = std::to_string(value / one);
  if (value % one == 0) return text;
  auto fraction = std::to_string(one + value % one).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return text + "." + fraction;
}

}  // namespace

Result<std::chrono::microseconds> parse_duration(std::string_view text) {
  Reader reader{Reading::strict};
  if (reader.read(text)) return std::chrono::microseconds(reader.sum);
  return Failure{errc::bad_argument, "duration " + quoted(text) + " " + reader.fault +
                                         proposal(text) + " (units: us, ms, s, m, h)"};
}

std::string format_duration(std::chrono::nanoseconds duration) {
  const auto count = duration.count();
  if (count < 0) {
    if (count == INT64_MIN) return format_duration(duration + std::chrono::nanoseconds(1));
    return "-" + format_duration(-duration);
  }
  auto ns = static_cast<std::uint64_t>(count);
  if (ns == 0) return "0";
  if (ns < 1'000) return std::to_string(ns) + "ns";
  if (ns < 1'000'000) return decimal(ns, 1'000) + "us";

  auto us = (ns + 500) / 1'000;
  if (us < 1'000'000) return decimal(us, 1'000) + "ms";
  std::string text;
  for (const auto& [name, length] : {units[4], units[3]})
    if (us >= length) {
      text += std::to_string(us / length).append(name);
      us %= length;
    }
  if (us > 0) text += decimal(us, 1'000'000) + "s";
  return text;
}

}  // namespace holdfast
