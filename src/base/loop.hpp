#pragma once

#include <cstdint>
#include <memory>

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
  ~Loop();  ///< stop() first
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Runs a task on the loop, soon. Thread-safe.
  void post(Task task);

  /// A blocking call: runs `start` on the loop and returns when `done()` was called for it. If no one
  /// drives the loop, the calling thread does. Thread-safe; must not be called on the loop.
  class Call;

  /// Runs `start` on the loop in the calling thread if no one drives it now, without waiting for
  /// anything that it sets off; else returns false and does nothing. Thread-safe.
  bool try_run(Task& start);

  /// True in the thread that drives the loop now.
  [[nodiscard]] bool on_loop() const noexcept;

  /// Ends the background thread; tasks that have not run never will. Idempotent.
  void stop() noexcept;
  /// In a child of fork(2): forgets the thread without joining it.
  void abandon() noexcept;

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

/// Lives on the stack of the caller. `done()` may be called from any thread, once.
class Loop::Call {
 public:
  explicit Call(Loop& loop) noexcept;
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Starts the work on the loop: at once in this thread if no one drives it, else posted.
  void start(Task task);
  /// Waits until done(), driving the loop if no one else does. start() is not required before it.
  void wait();
  void done() noexcept;

 private:
  friend class Loop;
  friend struct Loop::State;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace holdfast
