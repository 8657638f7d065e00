// A process that stands still (SIGSTOP, a laptop's lid, a virtual machine that moves), and a clock
// that is set while it runs.

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "contract/contract.hpp"
#include "support/outside.hpp"
#include "support/scratch.hpp"

namespace holdfast::test {
namespace {

class Pause : public Contract {
 protected:
  static constexpr std::chrono::milliseconds ttl = scaled(1500ms);
};
HOLDFAST_ON_STORES_WITH(several_processes, Pause);

TEST_P(Pause, ShorterThanTheTtlKeepsTheLease) {
  Taker holder = taker();
  const std::chrono::milliseconds long_enough = scaled(6s);
  const auto token = holder.acquire("x", long_enough);
  const Client a = client();
  for (int i = 0; i < 2; ++i) {
    holder.process().pause();
    EXPECT_FALSE(a.mutex("x").try_acquire_for(long_enough / 4));
    holder.process().resume();
    holder.send("renew", "x");
    holder.expect("renewed");
  }
  holder.send("state", "x");
  const auto state = holder.expect("state");
  EXPECT_EQ(state.words.at(1), "held");
  EXPECT_EQ(state.number(2), token);
  EXPECT_FALSE(holder.next("lost", 0ms));
}

TEST_P(Pause, LongerThanTheTtlIsALossBeforeAnythingElse) {
  Taker holder = taker();
  holder.acquire("x", ttl);
  holder.send("probe", "x");
  holder.expect("probing");
  holder.process().pause();
  const Lease next = another().mutex("x").acquire();  // when the TTL is over
  EXPECT_EQ(next.predecessor(), Predecessor::expired);
  const auto granted = boot_clock::now();
  holder.process().resume();
  const auto resumed = boot_clock::now();
  EXPECT_EQ(holder.expect("probed").number(1), 0u) << "it said held after its time";
  const auto lost = holder.expect("lost");
  EXPECT_GT(lost.at, granted);
  EXPECT_LT(lost.at, resumed + lateness);
  EXPECT_EQ(lost.words.at(1), "expired");
  holder.send("renew", "x");
  EXPECT_EQ(holder.expect("error").number(1), static_cast<std::uint64_t>(errc::lost));
  holder.send("release", "x");
  EXPECT_EQ(holder.expect("released").words.at(1), to_string(ReleaseOutcome::already_lost));
  EXPECT_EQ(truth("x").holders.at(0).token, next.token());
}

TEST_P(Pause, ALateFencedWriteIsRefused) {
  const Scratch scratch;
  const std::string file = scratch.file("register");
  Taker holder = taker();
  holder.acquire("x", ttl);
  holder.send("append", "x", file, "fenced", "old");
  holder.expect("written");
  holder.process().pause();
  const Lease next = another().mutex("x").acquire();
  EXPECT_TRUE(Register(file).append(next.token(), "new", true));
  // The old holder is in the middle of its write: it does not ask again whether it holds.
  holder.send("append", "x", file, "fenced", "late");
  holder.send("append", "x", file, "unfenced", "careless");
  holder.process().resume();
  holder.expect("refused");
  holder.expect("written");
  History history;
  std::vector<std::string> fenced;
  for (const auto& line : Register(file).lines())
    if (line.fenced) {
      history.add(History::Write{"x", line.who, line.token});
      fenced.push_back(line.who);
    }
  EXPECT_THAT(fenced, ElementsAre("old", "new"));
  EXPECT_THAT(history.fenced_exclusion(), IsEmpty());
}

TEST_P(Pause, AcquiresAnewAfterwards) {
  Taker holder = taker();
  const auto first = holder.acquire("x", ttl);
  holder.process().pause();
  {
    const Lease between = another().mutex("x").acquire();
  }
  ASSERT_TRUE(becomes_free("x"));
  holder.process().resume();
  holder.expect("lost");
  EXPECT_GT(holder.acquire("x", long_ttl), first);
}

/// libfaketime is not made for sanitizers: both replace the same functions.
class ClockStep : public Pause {
 protected:
  void SetUp() override {
    for (const char* place : {"/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
                              "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1"})
      if (::access(place, R_OK) == 0) library_ = place;
    if (library_.empty()) FAIL() << "libfaketime is not installed (Debian: libfaketime)";
  }
  /// A taker whose wall clock is what `step` writes.
  Taker shifted() {
    step("+0");
    return taker({"LD_PRELOAD=" + library_, "FAKETIME_TIMESTAMP_FILE=" + file_,
                  "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1",
                  "FAKETIME_DONT_RESET=1"});
  }
  void step(const std::string& offset) const {
    std::ofstream(file_ + ".new") << offset << '\n';
    std::filesystem::rename(file_ + ".new", file_);
  }

 private:
  Scratch scratch_;
  std::string library_;
  std::string file_ = scratch_.file("faketime");
};
#if !defined(HOLDFAST_ASAN) && !defined(HOLDFAST_TSAN)
HOLDFAST_ON_STORES_WITH(several_processes, ClockStep);
#else
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ClockStep);
#endif

TEST_P(ClockStep, OfAHolderHasNoEffect) {
  Taker holder = shifted();
  const auto token = holder.acquire("x", scaled(2s));
  const Client a = client();
  for (const char* offset : {"+1h", "-1h", "+400d"}) {
    step(offset);
    EXPECT_FALSE(a.mutex("x").try_acquire_for(scaled(1s))) << offset;
    holder.send("state", "x");
    EXPECT_EQ(holder.expect("state").words.at(1), "held") << offset;
  }
  EXPECT_FALSE(holder.next("lost", 0ms));
  holder.send("release", "x");
  EXPECT_EQ(holder.expect("released").words.at(1), "released");
  EXPECT_GT(a.mutex("x").acquire().token(), token);
}

TEST_P(ClockStep, OfAWaiterHasNoEffect) {
  Lease lease = another().mutex("x", {.ttl = long_ttl}).acquire();
  Taker waiter = shifted();
  waiter.send("acquire", "x", long_ttl.count(), (10 * patience).count());
  ASSERT_TRUE(queued("x"));
  step("+1h");
  EXPECT_FALSE(waiter.next("granted", 300ms));
  EXPECT_FALSE(waiter.next("busy", 0ms));
  step("-2h");
  lease.release();
  waiter.expect("granted");
}

TEST_P(ClockStep, TokensRiseThoughTheClockWasBehind) {
  Taker behind = shifted();
  step("-400d");
  auto last = behind.acquire("x", long_ttl);
  for (int i = 0; i < 3; ++i) {
    behind.send("release", "x");
    behind.expect("released");
    {
      const Client a = client();
      Lease lease = a.mutex("x").acquire();
      EXPECT_GT(lease.token(), last);
      last = lease.token();
      lease.release();
    }
    const auto next = behind.acquire("x", long_ttl);
    EXPECT_GT(next, last);
    last = next;
  }
}

}  // namespace
}  // namespace holdfast::test
