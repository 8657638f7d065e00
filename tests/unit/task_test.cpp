#include "base/task.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>

namespace holdfast {
namespace {

/// Counts how many of its kind live, and what happened to them.
struct Tally {
  int alive = 0, moves = 0, destroyed = 0;
};

/// A callable of a chosen size that reports to a Tally.
template <std::size_t Ballast, bool Noexcept = true>
class Counted {
 public:
  explicit Counted(Tally& tally) : tally_(&tally) { ++tally_->alive; }
  Counted(Counted&& other) noexcept(Noexcept) : tally_(other.tally_) {
    ++tally_->alive;
    ++tally_->moves;
  }
  Counted(const Counted&) = delete;
  ~Counted() {
    --tally_->alive;
    ++tally_->destroyed;
  }
  int operator()(int x) const { return x + 1; }

 private:
  Tally* tally_;
  std::array<char, Ballast> ballast_{};
};

template <class Callable>
class UniqueFunctionTest : public testing::Test {};
using Callables =
    testing::Types<Counted<1>, Counted<40>, Counted<41>, Counted<1000>, Counted<1, false>>;
TYPED_TEST_SUITE(UniqueFunctionTest, Callables);

TYPED_TEST(UniqueFunctionTest, CallsAfterMovesAndDestroysExactlyOnce) {
  Tally tally;
  {
    UniqueFunction<int(int)> first = TypeParam(tally);
    EXPECT_EQ(tally.alive, 1);
    EXPECT_EQ(first(1), 2);

    UniqueFunction<int(int)> second = std::move(first);
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): empty, by contract
    EXPECT_EQ(second(2), 3);

    UniqueFunction<int(int)> third;
    EXPECT_FALSE(third);
    third = std::move(second);
    EXPECT_EQ(third(3), 4);
    EXPECT_EQ(tally.alive, 1);
  }
  EXPECT_EQ(tally.alive, 0);
  EXPECT_EQ(tally.destroyed, tally.moves + 1);
}

TYPED_TEST(UniqueFunctionTest, AssignmentDestroysWhatWasThere) {
  Tally tally, other;
  UniqueFunction<int(int)> function = TypeParam(tally);
  function = TypeParam(other);
  EXPECT_EQ(tally.alive, 0);
  EXPECT_EQ(other.alive, 1);
  auto& self = function;
  function = std::move(self);
  EXPECT_EQ(function(1), 2);
  function = nullptr;
  EXPECT_EQ(other.alive, 0);
  EXPECT_FALSE(function);
}

TEST(UniqueFunction, TakesMoveOnlyCallablesAndArguments) {
  auto owned = std::make_unique<int>(40);
  UniqueFunction<int(std::unique_ptr<int>)> add =
      [owned = std::move(owned)](std::unique_ptr<int> more) { return *owned + *more; };
  EXPECT_EQ(add(std::make_unique<int>(2)), 42);
}

TEST(UniqueFunction, PassesReferencesThrough) {
  UniqueFunction<std::string&(std::string&)> append = [](std::string& s) -> std::string& {
    return s += "!";
  };
  std::string text = "hi";
  EXPECT_EQ(&append(text), &text);
  EXPECT_EQ(text, "hi!");
}

TEST(UniqueFunction, KeepsItsStateBetweenCalls) {
  UniqueFunction<int()> next = [n = 0]() mutable { return ++n; };
  next();
  EXPECT_EQ(next(), 2);
}

TEST(Task, MayIgnoreAResult) {
  int calls = 0;
  Task task = [&] { return ++calls; };
  task();
  EXPECT_EQ(calls, 1);
}

TEST(Task, KeepsOverAlignedCallablesAligned) {
  struct alignas(64) Wide {
    bool operator()() const { return reinterpret_cast<std::uintptr_t>(this) % 64 == 0; }
  };
  UniqueFunction<bool()> function = Wide{};
  auto moved = std::move(function);
  EXPECT_TRUE(moved());
}

}  // namespace
}  // namespace holdfast
