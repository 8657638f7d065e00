#include "base/fork.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast {
namespace {

// This object is made before main(), perhaps before anything in the library: a fork here counts
// too.
const int status_of_early_child = [] {
  const auto before = fork_generation();
  const pid_t child = fork();
  if (child == 0) _exit(fork_generation() == before + 1 ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}();

/// Whether `check` holds in a child of fork.
template <class Check>
bool holds_in_child(Check check) {
  const pid_t child = fork();
  if (child == 0) _exit(check() ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Fork, TheChildKnowsThatItIsOne) {
  const auto born = fork_generation();
  EXPECT_TRUE(holds_in_child([born] { return fork_generation() == born + 1; }));
  EXPECT_EQ(fork_generation(), born) << "the parent is still itself";
}

TEST(Fork, AGrandchildDiffersFromBoth) {
  const auto born = fork_generation();
  EXPECT_TRUE(holds_in_child(
      [born] { return holds_in_child([born] { return fork_generation() == born + 2; }); }));
}

TEST(Fork, CountsBeforeMain) { EXPECT_EQ(status_of_early_child, 0); }

}  // namespace
}  // namespace holdfast
