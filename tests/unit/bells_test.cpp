#include "drivers/sqlite/bells.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sqlite_fixture.hpp"

namespace holdfast::test {
namespace {

using sqlite::Bells;
using sqlite::FileId;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string message(char kind) {
  return std::string(1, kind) + std::string(Bells::message_bytes - 1, 's');
}

Id hearing() {
  Id id = Id::random();
  Bells::mark_deaf(id, false);
  return id;
}

class BellsTest : public testing::Test {
 protected:
  BellsTest() { std::ofstream(path_) << "a lock file"; }

  std::unique_ptr<Bells> hang(const Id& client) const {
    return Bells::open(path_, file_, client).take();
  }
  std::string bell(const Id& client) const {
    for (const auto& entry : std::filesystem::directory_iterator(path_ + "-bells"))
      if (entry.path().string().ends_with(client.hex())) return entry.path();
    return {};
  }

  Scratch scratch_;
  std::string path_ = path_of(scratch_);
  FileId file_{1, 0xabc};
};

TEST_F(BellsTest, RingWakesAndCarriesTheMessageOnce) {
  const Id a = hearing(), b = hearing();
  const auto of_a = hang(a), of_b = hang(b);
  EXPECT_THAT(of_b->take(), IsEmpty());
  of_a->ring(b, message(1));
  of_a->ring(b, message(2));
  of_a->ring(b, message(1));
  EXPECT_THAT(of_b->take(), ElementsAre(message(1), message(2)));
  EXPECT_THAT(of_b->take(), IsEmpty());
  EXPECT_THAT(of_a->take(), IsEmpty());
}

TEST_F(BellsTest, AClientThatClosedIsGoneAndItsBellToo) {
  const Id a = hearing(), b = hearing();
  const auto of_a = hang(a);
  {
    const auto of_b = hang(b);
    EXPECT_TRUE(of_a->alive(b));
  }
  of_a->forget_living();
  EXPECT_FALSE(of_a->alive(b));
  EXPECT_FALSE(of_a->alive(hearing())) << "never seen";
  EXPECT_EQ(bell(b), "");
  of_a->ring(b, message(1));
}

TEST_F(BellsTest, AKilledClientIsGoneAndRaisesNoSignal) {
  const Id a = hearing(), b = hearing();
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto own = hang(b);
    [[maybe_unused]] const auto ignored = ::write(ends[1], "x", 1);
    ::pause();
  }
  char x = 0;
  ASSERT_EQ(::read(ends[0], &x, 1), 1);
  const auto of_a = hang(a);
  EXPECT_TRUE(of_a->alive(b));
  of_a->ring(b, message(1));  // now it has a descriptor to write to
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);

  ASSERT_NE(::signal(SIGPIPE, SIG_DFL), SIG_ERR);
  of_a->ring(b, message(1));
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_FALSE(::sigismember(&pending, SIGPIPE));
  of_a->forget_living();
  EXPECT_FALSE(of_a->alive(b));
  EXPECT_FALSE(of_a->alive(b));
  EXPECT_NE(bell(b), "") << "nobody took it down";

  EXPECT_EQ(Bells::census(path_, file_).same, 1U);
  EXPECT_EQ(bell(b), "") << "now somebody has";
  EXPECT_NE(bell(a), "");
  EXPECT_FALSE(of_a->alive(b));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(BellsTest, ASignalThatWasPendingAlreadyStays) {
  const Id a = hearing(), b = hearing();
  const auto of_a = hang(a);
  auto of_b = hang(b);
  of_a->ring(b, message(1));
  of_b.reset();
  sigset_t pipe, before, pending;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  ::pthread_kill(::pthread_self(), SIGPIPE);
  of_a->ring(b, message(1));
  ::sigpending(&pending);
  EXPECT_TRUE(::sigismember(&pending, SIGPIPE));
  int number = 0;
  ::sigwait(&pipe, &number);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_F(BellsTest, RubbishIsIgnoredAndDoesNotShiftWhatFollows) {
  const Id a = hearing(), b = hearing();
  const auto of_a = hang(a), of_b = hang(b);
  std::ofstream(bell(b)) << "rubbish";
  EXPECT_THAT(of_b->take(), IsEmpty());
  of_a->ring(b, message(1));
  EXPECT_THAT(of_b->take(), ElementsAre(message(1)));
  of_a->ring(b, message(2));
  std::ofstream(bell(b)) << "rubbish";
  EXPECT_THAT(of_b->take(), ElementsAre(message(2)));
  of_a->ring(b, message(1));
  EXPECT_THAT(of_b->take(), ElementsAre(message(1)));
}

TEST_F(BellsTest, AFullBellDropsWithoutWaiting) {
  const Id a = hearing(), b = hearing();
  const auto of_a = hang(a), of_b = hang(b);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 10'000; ++i) of_a->ring(b, message(static_cast<char>(i & 1)));
  EXPECT_LT(std::chrono::steady_clock::now() - start, patience);
  EXPECT_TRUE(of_a->alive(b));
  EXPECT_THAT(of_b->take(), ElementsAre(message(0), message(1))) << "as one each";
  of_a->ring(b, message(2));
  EXPECT_THAT(of_b->take(), ElementsAre(message(2)));
}

TEST_F(BellsTest, ManyClientsNeedFewDescriptors) {
  const Id a = hearing();
  const auto of_a = hang(a);
  std::vector<Id> ids;
  std::vector<std::unique_ptr<Bells>> others;
  for (int i = 0; i < 150; ++i) others.push_back(hang(ids.emplace_back(hearing())));
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = descriptors();
  for (int round = 0; round < 2; ++round)
    for (const Id& id : ids) {
      EXPECT_TRUE(of_a->alive(id));
      of_a->ring(id, message(static_cast<char>(round)));
    }
  EXPECT_LE(descriptors() - before, 64);
  for (const auto& each : others) EXPECT_THAT(each->take(), SizeIs(2));
}

TEST_F(BellsTest, ADeafClientNeverCountsAsGone) {
  const auto of_a = hang(hearing());
  Id deaf = Id::random();
  Bells::mark_deaf(deaf, true);
  EXPECT_TRUE(of_a->alive(deaf));
  of_a->ring(deaf, message(1));
}

TEST_F(BellsTest, WhoMayNotRingDoesNotTakeTheOtherForDead) {
  const Id a = hearing(), b = hearing();
  const auto of_a = hang(a), of_b = hang(b);
  std::filesystem::remove(bell(b));
  std::ofstream(path_ + "-bells/abc." + b.hex()) << "a file in its place";
  EXPECT_TRUE(of_a->alive(b));
  of_a->ring(b, message(1));
  EXPECT_EQ(std::filesystem::file_size(path_ + "-bells/abc." + b.hex()), 19U) << "not written to";
}

TEST_F(BellsTest, WithoutTheDirectoryNobodyIsSurelyGone) {
  const Id a = hearing(), b = hearing();
  const auto of_a = hang(a), of_b = hang(b);
  EXPECT_TRUE(of_a->in_place());
  std::filesystem::remove_all(path_ + "-bells");
  EXPECT_FALSE(of_a->in_place());
  EXPECT_TRUE(of_a->alive(b));
}

TEST_F(BellsTest, TheCensusTellsClientsOfAnotherFileToLook) {
  const auto of_a = hang(hearing());
  const auto old = Bells::open(path_, FileId{1, 0xdef}, hearing()).take();
  const Bells::Census census = Bells::census(path_, file_);
  EXPECT_EQ(census.same, 1U);
  EXPECT_EQ(census.other, 1U);
  EXPECT_THAT(of_a->take(), IsEmpty());
  const auto told = old->take();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0][0], Bells::look_at_file);
  EXPECT_EQ(Bells::census(path_, std::nullopt).other, 2U);
}

TEST_F(BellsTest, TheCensusLeavesStrangersAndTheUnfinishedAlone) {
  const auto of_a = hang(hearing());
  const std::string folder = path_ + "-bells/";
  ASSERT_EQ(::mkfifo((folder + ".new." + hearing().hex()).c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((folder + "notes").c_str(), 0600), 0);
  std::ofstream(folder + "abc." + hearing().hex()) << "not a FIFO";
  EXPECT_EQ(Bells::census(path_, file_).same, 1U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 4);
}

TEST_F(BellsTest, TheLastOneRemovesTheDirectory) {
  auto of_a = hang(hearing());
  auto of_b = hang(hearing());
  of_a.reset();
  EXPECT_TRUE(std::filesystem::exists(path_ + "-bells"));
  of_b.reset();
  EXPECT_FALSE(std::filesystem::exists(path_ + "-bells"));
}

TEST_F(BellsTest, WhoMayUseTheFileMayRing) {
  using std::filesystem::perms;
  const auto mode = [](const std::string& path) {
    return static_cast<int>(std::filesystem::status(path).permissions() & perms::all);
  };
  const mode_t old = ::umask(077);
  const Id a = hearing();
  for (const auto& [file, folder, fifo] :
       {std::array{0600, 0700, 0600}, std::array{0660, 0770, 0660}, std::array{0644, 0755, 0644}}) {
    ::chmod(path_.c_str(), static_cast<mode_t>(file));
    const auto own = hang(a);
    EXPECT_EQ(mode(path_ + "-bells"), folder);
    EXPECT_EQ(mode(bell(a)), fifo);
  }
  ::umask(old);
}

TEST_F(BellsTest, ASymbolicLinkIsNotFollowed) {
  std::filesystem::create_directory(scratch_.file("elsewhere"));
  std::filesystem::create_symlink(scratch_.file("elsewhere"), path_ + "-bells");
  const auto hung = Bells::open(path_, file_, hearing());
  ASSERT_FALSE(hung.ok());
  EXPECT_THAT(hung.failure().words, testing::HasSubstr("locks.db-bells"));
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.file("elsewhere")));
}

}  // namespace
}  // namespace holdfast::test
