#include "base/duration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

std::string words_for(std::string_view text) {
  const auto result = parse_duration(text);
  if (result.ok()) return "valid";
  EXPECT_EQ(result.failure().code, errc::bad_argument);
  return result.failure().words;
}

TEST(ParseDuration, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_duration("500ms").value(), 500ms);
  EXPECT_EQ(parse_duration("10s").value(), 10s);
  EXPECT_EQ(parse_duration("5m").value(), 5min);
  EXPECT_EQ(parse_duration("2h").value(), 2h);
  EXPECT_EQ(parse_duration("18us").value(), 18us);
  EXPECT_EQ(parse_duration("1h30m").value(), 90min);
  EXPECT_EQ(parse_duration("1h2m3s4ms5us").value(), 1h + 2min + 3s + 4ms + 5us);
  EXPECT_EQ(parse_duration("90m").value(), 90min);
  EXPECT_EQ(parse_duration("0").value(), 0us);
  EXPECT_EQ(parse_duration("0s").value(), 0us);
}

TEST(ParseDuration, TheLastNumberMayHaveAFraction) {
  EXPECT_EQ(parse_duration("1.5s").value(), 1500ms);
  EXPECT_EQ(parse_duration("1.250ms").value(), 1250us);
  EXPECT_EQ(parse_duration("1m0.5s").value(), 60500ms);
  EXPECT_EQ(parse_duration("1.0000000s").value(), 1s);
  EXPECT_THAT(words_for("1.5us"), HasSubstr("finer than 1us"));
  EXPECT_THAT(words_for("1.5h30m"), HasSubstr("fraction before its last unit: did you mean 2h?"));
  for (const auto* bad : {".5s", "5.s", "1.2.3s", "."}) EXPECT_NE(words_for(bad), "valid") << bad;
}

TEST(ParseDuration, ProposesWhatWasMeant) {
  EXPECT_EQ(words_for("10"),
            "duration \"10\" has no unit: did you mean 10s? (units: us, ms, s, m, h)");
  EXPECT_THAT(words_for("1m30"), HasSubstr("did you mean 1m30s?"));
  EXPECT_THAT(words_for("5 m"), HasSubstr("did you mean 5m?"));
  EXPECT_THAT(words_for("10S"), HasSubstr("did you mean 10s?"));
  EXPECT_THAT(words_for("2 Hours"), HasSubstr("did you mean 2h?"));
  EXPECT_THAT(words_for("15min"), HasSubstr("did you mean 15m?"));
  EXPECT_THAT(words_for("1d"), HasSubstr("did you mean 24h?"));
  EXPECT_THAT(words_for("5µs"), HasSubstr("did you mean 5us?"));
  EXPECT_THAT(words_for("30m1h"),
              HasSubstr("large units to small ones, each once: did you mean 1h30m?"));
  EXPECT_THAT(words_for("1h1h"), HasSubstr("each once"));
}

TEST(ParseDuration, RefusesWhatHasNoMeaning) {
  for (const auto* bad : {"", " ", "s", "-5s", "+5s", "abc", "10x", "1e3s", "0x10s", "10s ", "inf"})
    EXPECT_NE(words_for(bad), "valid") << bad;
  EXPECT_THAT(words_for("-5s"), HasSubstr("does not start with a number (units: us, ms, s, m, h)"));
  EXPECT_THAT(words_for("\x1B[0m"), Not(HasSubstr("\x1B"))) << "the terminal is safe";
  EXPECT_LT(words_for(std::string(100'000, '9')).size(), 300U);
}

TEST(ParseDuration, TenYearsAreTheMostAndNothingOverflows) {
  EXPECT_EQ(parse_duration("87600h").value(), 87'600h);
  for (const auto* bad : {"87601h", "87600h1us", "315360001s", "99999999999999999999999us",
                          "18446744073709551616us", "18446744073709551616h"})
    EXPECT_THAT(words_for(bad), HasSubstr("longer than 10 years")) << bad;
}

TEST(FormatDuration, IsShort) {
  EXPECT_EQ(format_duration(0s), "0");
  EXPECT_EQ(format_duration(250ms), "250ms");
  EXPECT_EQ(format_duration(10s), "10s");
  EXPECT_EQ(format_duration(90s), "1m30s");
  EXPECT_EQ(format_duration(1250us), "1.25ms");
  EXPECT_EQ(format_duration(18us), "18us");
  EXPECT_EQ(format_duration(24h), "24h");
  EXPECT_EQ(format_duration(1h + 5s), "1h5s");
  EXPECT_EQ(format_duration(1500ms), "1.5s");
  EXPECT_EQ(format_duration(999ns), "999ns");
  EXPECT_EQ(format_duration(18'050ns), "18.05us");
  EXPECT_EQ(format_duration(999'999'600ns), "1s") << "rounded up over the edge of a unit";
  EXPECT_EQ(format_duration(-5ms), "-5ms");
}

TEST(FormatDuration, KnowsNoOverflow) {
  EXPECT_EQ(format_duration(std::chrono::nanoseconds::max()), "2562047h47m16.854776s");
  EXPECT_EQ(format_duration(std::chrono::nanoseconds::min()), "-2562047h47m16.854776s");
}

TEST(FormatDuration, IsReadBackToTheMicrosecond) {
  for (const auto duration :
       {1us, 999us, 1000us, 1001us, 999'999us, 1'000'001us, 59'999'999us, 60'000'001us,
        3'599'999'999us, 3'600'000'001us, 315'360'000'000'000us})
    EXPECT_EQ(parse_duration(format_duration(duration)).value(), duration) << duration.count();
}

}  // namespace
}  // namespace holdfast
