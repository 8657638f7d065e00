#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <optional>

#include "base/clock.hpp"
#include "base/task.hpp"

namespace boost::asio {
class io_context;
}

namespace holdfast {

/// The event loop of one client: an io_context that exactly one thread drives at a time. Either a
/// blocking caller does, for the length of its call, or the background thread, when no caller is
/// there. So a blocking call needs no thread hop, and nothing needs a lock against another handler.
/// Asio stays behind this header; a network driver reaches it through context().
class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Runs a task on the loop, soon. Thread-safe.
  void post(Task task);

  /// Runs a task when the one that runs now has ended, before any other, or after all that other
  /// threads have posted so far. Spares a turn through the queue. On the loop only.
  void defer(Task task);

  class Call;

  /// Runs a task on the loop in the calling thread if no one drives it now, without waiting for
  /// anything that it sets off; else returns false and does nothing. Thread-safe.
  bool try_run(Task& task);

  /// True in the thread that drives the loop now.
  [[nodiscard]] bool on_loop() const noexcept;

  /// Runs what is ready now, from within a task. On the loop only.
  void drain();

  /// Ends the background thread. Calls go on to work: their callers drive the loop. Idempotent.
  void stop() noexcept;

  [[nodiscard]] boost::asio::io_context& context() noexcept;

  /// Calls back once at an instant, unless canceled or re-armed. Use on the loop only.
  class Timer {
   public:
    explicit Timer(Loop& loop);
    ~Timer();
    Timer(Timer&&) noexcept;
    Timer& operator=(Timer&&) noexcept;
    void arm(Instant at, Task task);
    void cancel() noexcept;

   private:
    struct State;
    std::shared_ptr<State> state_;
  };

  /// Calls back each time that a file descriptor turns readable. Use on the loop only. Does not own
  /// the descriptor.
  class Readable {
   public:
    Readable(Loop& loop, int descriptor, UniqueFunction<void()> callback);
    ~Readable();
    Readable(const Readable&) = delete;
    Readable& operator=(const Readable&) = delete;

   private:
    struct State;
    std::shared_ptr<State> state_;
  };

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// One blocking call; lives on the stack of the caller. done() may be called from any thread, once.
class Loop::Call {
 public:
  explicit Call(Loop& loop) noexcept : loop_(*loop.state_) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Runs the task on the loop: at once in this thread if no one drives it, else posted.
  void start(Task task);
  /// Waits until done() and drives the loop meanwhile if no one else does. False: `deadline` came
  /// first; the call goes on, and must be waited for again before it is destroyed.
  [[nodiscard]] bool wait_until(Instant deadline);
  void wait() { (void)wait_until(Instant::max()); }
  void done() noexcept;

 private:
  friend struct Loop::State;
  void leave() noexcept;

  Loop::State& loop_;
  std::optional<std::condition_variable> wake_;  // once it has parked: most never do
  std::atomic<bool> done_{false};
  std::atomic<bool> from_outside_{false};  // done() was not called by our own drive
  bool promoted_ = false;                  // asked to drive
  std::atomic<bool> driving_{false};
  Call* before_ = nullptr;  // in the list of parked calls
  Call* after_ = nullptr;
};

}  // namespace holdfast
