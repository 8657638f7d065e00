#include "base/result.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace holdfast {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Failure{errc::bad_argument, std::to_string(n) + " is odd"};
  return n / 2;
}

TEST(Result, HoldsAValue) {
  auto result = half(42);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result);
  EXPECT_EQ(*result, 21);
  EXPECT_EQ(half(42).take(), 21);
}

TEST(Result, HoldsAFailureWithWords) {
  const auto result = half(7);
  EXPECT_FALSE(result);
  EXPECT_EQ(result.failure().code, errc::bad_argument);
  EXPECT_EQ(result.failure().words, "7 is odd");
}

TEST(Result, TakeThrowsTheFailure) {
  try {
    (void)half(7).take();
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::bad_argument);
    EXPECT_EQ(error.words(), "7 is odd");
  }
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<std::string>> result = std::make_unique<std::string>("lease");
  EXPECT_EQ((*result)->size(), 5U);
  const auto taken = std::move(result).take();
  EXPECT_EQ(*taken, "lease");
}

Result<Done> check(bool good) {
  if (!good) return Failure{errc::denied, "no"};
  return Done{};
}

TEST(Result, SuccessNeedsNoValue) {
  EXPECT_TRUE(check(true));
  EXPECT_FALSE(check(false));
}

TEST(Result, AStringIsAValueAndNoFailure) {
  const Result<std::string> result = std::string("failed");
  EXPECT_TRUE(result.ok());
}

}  // namespace
}  // namespace holdfast
