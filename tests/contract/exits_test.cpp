// Rule 16: fork, exec, and the end of a program with leases in static storage.

#include <fcntl.h>

#include <filesystem>
#include <set>

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class Exits : public Contract {
 protected:
  /// Runs the lock-taker in another way, and collects what it says.
  void run(const char* how) {
    // A child of a process with threads may start threads of its own only with this set.
    Process process({HOLDFAST_TAKER_PATH, how, url()},
                    {"TSAN_OPTIONS=die_after_fork=0:halt_on_error=1"});
    while (const auto line = process.read_line()) {
      std::istringstream in(*line);
      std::string at, what, rest;
      in >> at >> what;
      std::getline(in >> std::ws, rest);
      said_.emplace(what, rest);
    }
    exit_ = process.wait();
  }
  /// What it said with this word.
  std::string said(const std::string& what) const {
    const auto found = said_.find(what);
    return found == said_.end() ? "(nothing)" : found->second;
  }
  std::multimap<std::string, std::string> said_;
  std::optional<Process::Exit> exit_;
};
HOLDFAST_ON_ALL_STORES(Exits);

TEST_P(Exits, AProgramMayEndWithClientsAndLeasesInStaticStorage) {
  run("--at-exit");
  EXPECT_EQ(exit_, (Process::Exit{false, 0})) << "it hung, or died";
  EXPECT_EQ(said("leaving"), "");
  // The lease before the client may go to the waiter; what is left is closed.
  EXPECT_THAT(said("waiter"),
              AnyOf("(nothing)", "0", std::to_string(static_cast<int>(errc::closed))));
  EXPECT_TRUE(becomes_idle("before"));
  EXPECT_TRUE(becomes_idle("after"));
}

TEST_P(Exits, AChildOfForkHoldsNothing) {
  run("--fork");
  EXPECT_EQ(exit_, (Process::Exit{false, 0}));
  EXPECT_EQ(said("child"), "lost forked 0");
  EXPECT_EQ(said("child-acquire"), "0 " + std::to_string(static_cast<int>(errc::closed)));
  EXPECT_EQ(said("child-release"), to_string(ReleaseOutcome::already_lost));
  EXPECT_EQ(said("child-ended"), "1 0");
  EXPECT_EQ(said("parent"), "held") << "the child released its parent's lease";
  EXPECT_EQ(said("parent-release"), "released");
  EXPECT_EQ(said("child-anew"), "0") << "the parent still holds";
  EXPECT_TRUE(becomes_idle("forked"));
}

TEST_P(Exits, AnExecutedProgramInheritsNothing) {
  run("--exec");
  EXPECT_EQ(exit_, (Process::Exit{false, 0}));
  EXPECT_EQ(said("granted").substr(0, 8), "executed");
  EXPECT_EQ(said("listed"), "");
  EXPECT_EQ(said("inherited"), "(nothing)");
}

TEST_P(Exits, AllDescriptorsAreCloseOnExec) {
  const auto open = [] {
    std::set<int> descriptors;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
      descriptors.insert(std::stoi(entry.path().filename()));
    return descriptors;
  };
  const auto before = open();
  const Client a = client();
  const Client b = client();
  const Lease lease = a.mutex("x").acquire();
  EXPECT_FALSE(b.mutex("x").try_acquire_for(10ms));
  for (const int descriptor : open()) {
    const int flags = ::fcntl(descriptor, F_GETFD);
    if (flags < 0 || before.contains(descriptor)) continue;
    EXPECT_TRUE(flags & FD_CLOEXEC)
        << descriptor << " is "
        << std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor));
  }
}

}  // namespace
}  // namespace holdfast::test
