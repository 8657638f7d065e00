#include "base/loop.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

TEST(Loop, ABlockingCallRunsInTheCallingThreadWhenNobodyDrives) {
  Loop loop;
  // The background thread may be in the loop at first; after one call it has stepped aside.
  for (int tries = 0; tries < 2; ++tries) {
    Loop::Call call(loop);
    std::thread::id ran;
    call.start([&] {
      ran = std::this_thread::get_id();
      EXPECT_TRUE(loop.on_loop());
      call.done();
    });
    call.wait();
    EXPECT_FALSE(loop.on_loop());
    if (tries > 0) {
      EXPECT_EQ(ran, std::this_thread::get_id());
    }
  }
}

TEST(Loop, PostedTasksRunWithoutAnyCaller) {
  Loop loop;
  std::promise<bool> ran;
  loop.post([&] { ran.set_value(loop.on_loop()); });
  EXPECT_TRUE(ran.get_future().get());
}

TEST(Loop, TasksRunInOrderAndNeverAtTheSameTime) {
  Loop loop;
  std::atomic<int> inside{0};
  long sum = 0;  // unguarded: the loop is the guard
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      int last = -1;
      for (int i = 0; i < 500; ++i) {
        Loop::Call call(loop);
        call.start([&, i] {
          EXPECT_EQ(inside.fetch_add(1), 0);
          EXPECT_EQ(last, i - 1);
          last = i;
          ++sum;
          inside.fetch_sub(1);
          call.done();
        });
        call.wait();
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sum, 8 * 500);
}

TEST(Loop, ACallMayBeDoneByAnyThread) {
  Loop loop;
  for (int i = 0; i < 200; ++i) {
    Loop::Call call(loop);
    std::thread other([&] { call.done(); });
    call.wait();  // drives, in the poll, when the other thread ends it
    other.join();
  }
}

TEST(Loop, ALateCallGoesOnAfterItsDeadline) {
  Loop loop;
  Loop::Call call(loop);
  EXPECT_FALSE(call.wait_until(boot_clock::now() + 1ms));
  EXPECT_FALSE(call.wait_until(Instant::min()));
  loop.post([&] { call.done(); });
  call.wait();
}

TEST(Loop, AParkedCallTakesOverWhenTheDriverLeaves) {
  Loop loop;
  Loop::Call first(loop);
  std::promise<void> parked;
  std::thread second([&] {
    Loop::Call call(loop);
    Loop::Timer timer(loop);
    call.start([&] {
      timer.arm(boot_clock::now() + 20ms, [&] { call.done(); });
      parked.set_value();
    });
    call.wait();  // needs a driver for its timer after the first call has left
    Loop::Call cleaning(loop);
    cleaning.start([&] {
      timer.cancel();
      cleaning.done();
    });
    cleaning.wait();
  });
  loop.post([&] { first.done(); });
  first.wait();
  parked.get_future().get();
  second.join();
}

TEST(Loop, TimersFireAndCanBeRearmedAndCanceled) {
  Loop loop;
  std::promise<int> fired;
  auto timer = std::make_unique<Loop::Timer>(loop);
  auto canceled = std::make_unique<Loop::Timer>(loop);
  loop.post([&] {
    timer->arm(boot_clock::now() + 1h, [&] { fired.set_value(1); });
    timer->arm(boot_clock::now() + 1ms, [&] { fired.set_value(2); });
    canceled->arm(boot_clock::now(), [] { ADD_FAILURE() << "a canceled timer fired"; });
    canceled->cancel();
  });
  EXPECT_EQ(fired.get_future().get(), 2);
  std::promise<void> gone;
  loop.post([&] {
    timer.reset();
    canceled.reset();
    gone.set_value();
  });
  gone.get_future().get();
}

TEST(Loop, CallsThatNeverWaitStarveNoTimer) {
  Loop loop;
  std::atomic<bool> fired{false};
  std::unique_ptr<Loop::Timer> timer;
  const auto call = [&](Task task) {
    Loop::Call here(loop);
    here.start([&] {
      task();
      here.done();
    });
    here.wait();
  };
  call([&] {
    timer = std::make_unique<Loop::Timer>(loop);
    timer->arm(boot_clock::now() + 10ms, [&] { fired = true; });
  });
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (!fired && std::chrono::steady_clock::now() < end) call([] {});
  EXPECT_TRUE(fired);
  call([&] { timer.reset(); });
}

TEST(Loop, ReadableTellsEachTimeThatSomethingCame) {
  Loop loop;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::atomic<int> bytes{0};
  std::promise<void> all;
  std::unique_ptr<Loop::Readable> readable;
  loop.post([&] {
    readable = std::make_unique<Loop::Readable>(loop, ends[0], [&] {
      char byte;
      if (::read(ends[0], &byte, 1) == 1 && ++bytes == 3) all.set_value();
    });
  });
  for (int i = 0; i < 3; ++i) ASSERT_EQ(::write(ends[1], "x", 1), 1);
  all.get_future().get();
  std::promise<void> gone;
  loop.post([&] {
    readable.reset();
    gone.set_value();
  });
  gone.get_future().get();
  EXPECT_EQ(::close(ends[0]), 0);  // still ours: not closed by the loop
  ::close(ends[1]);
}

TEST(Loop, StopsWithTasksUnrun) {
  auto held = std::make_shared<int>(1);
  {
    Loop loop;
    loop.stop();
    loop.post([held] { ADD_FAILURE(); });
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Loop, CallersDriveAfterStop) {
  Loop loop;
  loop.stop();
  Loop::Call call(loop);
  call.start([&] { loop.post([&] { call.done(); }); });
  call.wait();
}

}  // namespace
}  // namespace holdfast
