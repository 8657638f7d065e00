#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

#include <holdfast/error.hpp>

namespace holdfast {
namespace {

TEST(Error, EachCodeHasItsOwnSentence) {
  std::set<std::string> sentences;
  for (int code = static_cast<int>(errc::timeout); code <= static_cast<int>(errc::conflict); ++code)
    EXPECT_TRUE(sentences.insert(error_category().message(code)).second) << code;
  EXPECT_EQ(sentences.count(error_category().message(0)), 0U);
  EXPECT_EQ(error_category().message(4711), "unknown holdfast error");
}

TEST(Error, CodesCompareWithTheEnumeration) {
  const std::error_code code = errc::lost;
  EXPECT_EQ(code, errc::lost);
  EXPECT_NE(code, errc::timeout);
  EXPECT_STREQ(code.category().name(), "holdfast");
}

TEST(Error, IsCaughtAsSystemErrorWithWordsAndCode) {
  try {
    throw Error(errc::unavailable, "redis://h:1: acquire \"a\": connection refused");
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), errc::unavailable);
    EXPECT_STREQ(error.what(),
                 "redis://h:1: acquire \"a\": connection refused: "
                 "the store cannot be reached or cannot work now");
  }
  EXPECT_EQ(Error(errc::lost, "gone").words(), "gone");
}

/// Constructed before the category is first used, so destroyed after everything of ours would be.
struct AsksAtExit {
  int status = 0;
  ~AsksAtExit() {
    if (status != 0 &&
        error_category().message(static_cast<int>(errc::lost)) == "the lease is lost")
      std::_Exit(status);
  }
};

TEST(ErrorDeathTest, WorksDuringStaticDestruction) {
  EXPECT_EXIT(
      {
        static AsksAtExit asks;
        asks.status = 42;
        std::exit(0);
      },
      testing::ExitedWithCode(42), "");
}

}  // namespace
}  // namespace holdfast
