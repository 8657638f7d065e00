#include "client/watchdog.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace holdfast::client {
namespace {

using namespace std::chrono_literals;

class WatchdogTest : public ::testing::Test {
 protected:
  std::mutex mutex;
  std::condition_variable barked;
  std::vector<Instant> barks;
  Instant next = Instant::max();
  Watchdog watchdog{[this](Instant now) {
    std::lock_guard lock(mutex);
    barks.push_back(now);
    barked.notify_all();
    return std::exchange(next, Instant::max());
  }};

  void wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(barked.wait_for(lock, 20s, [&] { return barks.size() >= count; }));
  }
};

TEST_F(WatchdogTest, BarksAtTheInstantNotBefore) {
  const Instant at = boot_clock::now() + 30ms;
  watchdog.arm(at);
  wait_for(1);
  EXPECT_GE(barks[0], at);
}

TEST_F(WatchdogTest, AnEarlierAlarmWins) {
  watchdog.arm(boot_clock::now() + 1h);
  watchdog.arm(boot_clock::now() + 10ms);
  wait_for(1);
}

TEST_F(WatchdogTest, NowMeansNow) {
  watchdog.arm(Instant::min());
  wait_for(1);
  watchdog.arm(Instant::min());
  wait_for(2);
}

TEST_F(WatchdogTest, GoesOnWithWhatTheBarkAnswers) {
  {
    std::lock_guard lock(mutex);
    next = boot_clock::now() + 20ms;
  }
  watchdog.arm(Instant::min());
  wait_for(2);
}

TEST_F(WatchdogTest, StopsAtOnceAlsoWhenNothingIsDue) {
  watchdog.arm(boot_clock::now() + 1h);
  watchdog.stop();
  watchdog.stop();
}

}  // namespace
}  // namespace holdfast::client
