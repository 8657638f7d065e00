#include "base/name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::string_literals;

std::string words_for(std::string_view name) {
  const auto failure = check_name(name);
  if (!failure) return "valid";
  EXPECT_EQ(failure->code, errc::bad_name);
  return failure->words;
}

TEST(Name, AnyLanguageIsValid) {
  for (const auto* name :
       {"order:payment:123456", "a b/c?d", "заказ", "注文", "🔒", "é", "\xC2\xA0", "\xEF\xBF\xBF",
        "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF", "\xEE\x80\x80"})
    EXPECT_EQ(words_for(name), "valid") << name;
}

TEST(Name, EmptyIsRefusedWithAnExample) {
  EXPECT_THAT(words_for(""), HasSubstr("empty: give it one, such as order:payment:1"));
}

TEST(Name, MayHave512BytesAndNoMore) {
  EXPECT_EQ(words_for(std::string(512, 'a')), "valid");
  EXPECT_THAT(words_for(std::string(513, 'a')),
              HasSubstr("has 513 bytes; at most 512 are allowed"));
  std::string accents;
  for (int i = 0; i < 257; ++i) accents += "é";
  EXPECT_THAT(words_for(accents), HasSubstr("has 514 bytes")) << "bytes count, not characters";
  EXPECT_TRUE(check_name("abcde", 4));
}

TEST(Name, ControlCharactersAreRefusedWithTheirPlace) {
  EXPECT_EQ(words_for("ab\n"),
            "the resource name \"ab\\x0A\" has the control character U+000A at offset 2; "
            "control characters are not allowed");
  EXPECT_THAT(words_for("\0a"s), HasSubstr("U+0000 at offset 0"));
  EXPECT_THAT(words_for("\x1F"), HasSubstr("U+001F"));
  EXPECT_THAT(words_for("\x7F"), HasSubstr("U+007F"));
  EXPECT_THAT(words_for("\xC2\x80"), HasSubstr("U+0080")) << "C1";
  EXPECT_THAT(words_for("é\xC2\x9F"), HasSubstr("U+009F at offset 2")) << "C1";
}

TEST(Name, WhatIsNotUtf8IsRefusedWithItsPlace) {
  EXPECT_EQ(words_for("caf\xE9!"),
            "the resource name \"caf\\xE9!\" is not UTF-8: byte 0xE9 at offset 3");
  for (const auto* bad : {"\xC0\x80", "\xC1\xBF", "\xE0\x80\xAF", "\xE0\x9F\xBF",
                          "\xF0\x80\x80\xAF", "\xF0\x8F\xBF\xBF"})
    EXPECT_THAT(words_for(bad), HasSubstr("not UTF-8")) << "overlong";
  for (const auto* bad : {"\xED\xA0\x80", "\xED\xBF\xBF"})
    EXPECT_THAT(words_for(bad), HasSubstr("not UTF-8")) << "surrogate";
  for (const auto* bad :
       {"\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF8\x88\x80\x80\x80", "\xFE", "\xFF"})
    EXPECT_THAT(words_for(bad), HasSubstr("not UTF-8")) << "above U+10FFFF";
  for (const auto* bad :
       {"a\xC3", "a\xE2\x82", "a\xF0\x9F\x94", "\xC3(", "\xE2\x82(", "\x80", "\xBF"})
    EXPECT_THAT(words_for(bad), HasSubstr("not UTF-8")) << "truncated or stray";
}

TEST(Text, MayBeEmptyAndIsNamedInTheWords) {
  EXPECT_FALSE(check_text("", "note", 256));
  EXPECT_FALSE(check_text("nightly", "note", 7));
  const auto failure = check_text("nightly", "note", 6);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, errc::bad_argument);
  EXPECT_EQ(failure->words, "note \"nightly\" has 7 bytes; at most 6 are allowed");
}

TEST(Names, AreSortedWithoutDuplicates) {
  const auto names = canonical_names({"b", "a", "b", "B"});
  ASSERT_TRUE(names.ok());
  EXPECT_THAT(names.value(), ElementsAre("B", "a", "b"));
}

TEST(Names, OneTo64AreTakenAtOnce) {
  EXPECT_EQ(canonical_names({}).failure().code, errc::bad_argument);
  std::vector<std::string> names;
  names.reserve(65);
  for (int i = 0; i < 64; ++i) names.push_back(std::to_string(i));
  EXPECT_TRUE(canonical_names(names).ok());
  names.emplace_back("one more");
  EXPECT_THAT(canonical_names(names).failure().words, HasSubstr("65 resource names"));
  EXPECT_EQ(canonical_names({"good", "\n"}).failure().code, errc::bad_name);
}

TEST(Quoted, IsSafeToPrintAndShort) {
  // Qualified: for a std::string, std::quoted of <iomanip> would be found too.
  EXPECT_EQ(holdfast::quoted("a"), R"("a")");
  EXPECT_EQ(holdfast::quoted("\x1B[31m\"\\\xC2\x9B\xFF"), R"("\x1B[31m\"\\\xC2\x9B\xFF")");
  EXPECT_EQ(holdfast::quoted(std::string(80, 'a')), '"' + std::string(80, 'a') + '"');
  EXPECT_EQ(holdfast::quoted(std::string(81, 'a')), '"' + std::string(80, 'a') + "…\"");
  EXPECT_EQ(holdfast::quoted("éééé", 3), "\"ééé…\"") << "never cuts a character in two";
}

}  // namespace
}  // namespace holdfast
