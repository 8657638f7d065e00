#include "base/id.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>
#include <unordered_set>
#include <vector>

namespace holdfast {
namespace {

TEST(Id, IsShownAs32LowerCaseHexDigits) {
  EXPECT_EQ(Id{}.hex(), std::string(32, '0'));
  Id id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i)
    id.bytes.at(i) = static_cast<std::uint8_t>(0xF0 + i);
  EXPECT_EQ(id.hex(), "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
}

TEST(Id, IsNeverDrawnTwiceOverManyBlocks) {
  std::unordered_set<Id> seen;
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(seen.insert(Id::random()).second);
}

TEST(Id, IsNeverDrawnTwiceByManyThreads) {
  std::vector<std::vector<Id>> drawn(8);
  std::vector<std::thread> threads;
  threads.reserve(drawn.size());
  for (auto& ids : drawn)
    threads.emplace_back([&ids] {
      for (int i = 0; i < 1'000; ++i) ids.push_back(Id::random());
    });
  for (auto& thread : threads) thread.join();

  std::set<Id> seen;
  for (const auto& ids : drawn) seen.insert(ids.begin(), ids.end());
  EXPECT_EQ(seen.size(), 8'000U);
}

/// What a child of fork draws first, as told through a pipe.
Id drawn_by_child() {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const Id id = Id::random();
    _exit(write(ends[1], id.bytes.data(), id.bytes.size()) == 16 ? 0 : 1);
  }
  Id id;
  EXPECT_EQ(read(ends[0], id.bytes.data(), id.bytes.size()), 16);
  close(ends[0]);
  close(ends[1]);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  return id;
}

TEST(Id, ParentAndChildrenOfForkDrawDifferentOnes) {
  (void)Id::random();  // fills the block that the children inherit
  const Id first = drawn_by_child();
  const Id second = drawn_by_child();
  const Id ours = Id::random();
  EXPECT_EQ((std::set<Id>{first, second, ours, Id{}}).size(), 4U);
}

}  // namespace
}  // namespace holdfast
