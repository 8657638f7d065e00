#include "base/loop.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <mutex>
#include <thread>
#include <utility>

namespace holdfast {

namespace asio = boost::asio;

namespace {

/// The background thread lets this time pass after a blocking call before it takes the loop, since
/// taking it away again would cost the next call two context switches.
constexpr auto grace = std::chrono::milliseconds(5);

thread_local const void* driven_here = nullptr;

Duration until(Instant at) noexcept {
  // Bounded so that adding it to any clock's now cannot overflow.
  const auto now = boot_clock::now();
  return at <= now ? Duration::zero() : std::min<Duration>(at - now, std::chrono::hours(24 * 365));
}

}  // namespace

struct Loop::State : std::enable_shared_from_this<Loop::State> {
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};

  std::mutex gate;  // guards what follows, and the flags of calls
  std::condition_variable background_wake;
  std::atomic<bool> driven{false};
  std::atomic<bool> stopping{false};
  bool background_idle = false;          // waits for the end of a drive, without a time limit
  std::atomic<bool> caller_came{false};  // a blocking call was posted to the background thread
  std::atomic<int> posted{0};            // tasks on their way
  bool calls_since = false;              // since the background thread last looked
  Call* first = nullptr;                 // parked calls, oldest first
  Call* last = nullptr;
  std::thread background;

  void enter() noexcept { driven_here = this; }

  /// Gives the loop up: to the oldest parked call, else, if work is waiting, to the background
  /// thread.
  void leave(std::unique_lock<std::mutex>& lock, bool background_leaves) {
    driven_here = nullptr;
    driven.store(false);
    if (first) {
      Call* next = first;
      unpark(*next);
      next->promoted_ = true;
      driven.store(true);  // held for it: nobody else can slip in
      next->wake_.notify_one();
      return;
    }
    calls_since = true;
    if (!background_leaves && (background_idle || posted.load() > 0)) background_wake.notify_one();
    (void)lock;
  }

  void park(Call& call) noexcept {
    call.before_ = last;
    call.after_ = nullptr;
    (last ? last->after_ : first) = &call;
    last = &call;
  }

  void unpark(Call& call) noexcept {
    (call.before_ ? call.before_->after_ : first) = call.after_;
    (call.after_ ? call.after_->before_ : last) = call.before_;
  }

  void run_background() {
    std::unique_lock lock(gate);
    while (!stopping.load()) {
      if (driven.load()) {
        background_idle = true;
        background_wake.wait(lock);
        background_idle = false;
        continue;
      }
      if (posted.load() == 0 && std::exchange(calls_since, false)) {
        background_wake.wait_for(lock, grace);
        continue;
      }
      driven.store(true);
      caller_came.store(false);
      lock.unlock();
      enter();
      do {
        run_one();
      } while (!stopping.load() && !caller_came.load());
      lock.lock();
      leave(lock, true);
    }
  }

  void run_one() noexcept { io.run_one(); }
};

Loop::Loop() : state_(std::make_shared<State>()) {
  state_->background = std::thread([state = state_] { state->run_background(); });
}

Loop::~Loop() { stop(); }

void Loop::stop() noexcept {
  {
    std::lock_guard lock(state_->gate);
    state_->stopping.store(true);
    state_->background_wake.notify_one();
  }
  if (!state_->background.joinable()) return;
  asio::post(state_->io, [] {});  // out of epoll
  if (state_->background.get_id() == std::this_thread::get_id())
    state_->background.detach();  // the client was destroyed by one of its own handlers
  else
    state_->background.join();
}

void Loop::post(Task task) {
  State& loop = *state_;
  loop.posted.fetch_add(1);
  asio::post(loop.io, [&loop, task = std::move(task)]() mutable {
    loop.posted.fetch_sub(1);
    task();
  });
  if (loop.driven.load())
    return;  // the driver will see it, or tell the background thread when it leaves
  std::lock_guard lock(loop.gate);
  loop.background_wake.notify_one();
}

bool Loop::try_run(Task& task) {
  std::unique_lock lock(state_->gate);
  if (state_->driven.load()) return false;
  state_->driven.store(true);
  lock.unlock();
  state_->enter();
  task();
  lock.lock();
  state_->leave(lock, false);
  return true;
}

bool Loop::on_loop() const noexcept { return driven_here == state_.get(); }

void Loop::drain() { state_->io.poll(); }

asio::io_context& Loop::context() noexcept { return state_->io; }

void Loop::Call::start(Task task) {
  {
    std::unique_lock lock(loop_.gate);
    if (!loop_.driven.load()) {
      loop_.driven.store(true);
      driving_ = true;
    }
  }
  if (driving_) {
    loop_.enter();
    task();
    return;
  }
  loop_.posted.fetch_add(1);
  loop_.caller_came.store(true);
  asio::post(loop_.io, [&loop = loop_, task = std::move(task)]() mutable {
    loop.posted.fetch_sub(1);
    task();
  });
}

bool Loop::Call::wait_until(Instant deadline) {
  std::unique_lock lock(loop_.gate, std::defer_lock);
  for (;;) {
    if (driving_) {
      while (!done_.load(std::memory_order_acquire)) {
        if (deadline == Instant::max()) {
          loop_.io.run_one();
        } else {
          const auto left = until(deadline);
          if (left <= Duration::zero()) break;
          loop_.io.run_one_for(left);
        }
      }
      lock.lock();
      driving_ = false;
      loop_.leave(lock, false);
      return done_.load(std::memory_order_acquire);
    }
    if (!lock.owns_lock()) lock.lock();
    if (done_.load(std::memory_order_acquire)) return true;
    if (!loop_.driven.load()) {
      loop_.driven.store(true);
      promoted_ = true;
    }
    if (!promoted_) {
      loop_.park(*this);
      const auto woken = [this] { return promoted_ || done_.load(std::memory_order_acquire); };
      bool in_time = true;
      if (deadline == Instant::max())
        wake_.wait(lock, woken);
      else
        in_time = wake_.wait_for(lock, until(deadline), woken);
      if (!promoted_) {
        loop_.unpark(*this);
        if (!in_time) return false;
        continue;
      }
    }
    promoted_ = false;
    driving_ = true;
    lock.unlock();
    loop_.enter();
  }
}

void Loop::Call::done() noexcept {
  State& loop = loop_;
  if (driven_here == &loop && driving_) {  // by ourselves, in a handler
    done_.store(true, std::memory_order_release);
    return;
  }
  std::lock_guard lock(loop.gate);
  const bool in_poll = driving_;
  done_.store(true, std::memory_order_release);
  wake_.notify_one();  // under the lock: afterwards the call may be gone
  if (in_poll) asio::post(loop.io, [] {});
}

struct Loop::Timer::State {
  explicit State(asio::io_context& io) : timer(io) {}
  asio::steady_timer timer;
  Task task;
  unsigned generation = 0;
};

Loop::Timer::Timer(Loop& loop) : state_(std::make_shared<State>(loop.context())) {}
Loop::Timer::~Timer() {
  if (state_) cancel();
}
Loop::Timer::Timer(Timer&&) noexcept = default;
Loop::Timer& Loop::Timer::operator=(Timer&& other) noexcept {
  if (state_) cancel();
  state_ = std::move(other.state_);
  return *this;
}

void Loop::Timer::arm(Instant at, Task task) {
  state_->task = std::move(task);
  const unsigned generation = ++state_->generation;
  state_->timer.expires_after(until(at));  // cancels an earlier wait
  state_->timer.async_wait([state = state_, generation](const boost::system::error_code& error) {
    if (error || generation != state->generation) return;
    Task due = std::move(state->task);  // it may arm the timer again
    due();
  });
}

void Loop::Timer::cancel() noexcept {
  ++state_->generation;
  state_->task = nullptr;
  state_->timer.cancel();
}

struct Loop::Readable::State : std::enable_shared_from_this<Loop::Readable::State> {
  State(asio::io_context& io, int fd, UniqueFunction<void()> call)
      : descriptor(io, fd), callback(std::move(call)) {}
  asio::posix::stream_descriptor descriptor;
  UniqueFunction<void()> callback;
  bool ended = false;

  void wait() {
    descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                          [self = shared_from_this()](const boost::system::error_code& error) {
                            if (error || self->ended) return;
                            self->callback();
                            if (!self->ended) self->wait();
                          });
  }
};

Loop::Readable::Readable(Loop& loop, int descriptor, UniqueFunction<void()> callback)
    : state_(std::make_shared<State>(loop.context(), descriptor, std::move(callback))) {
  state_->wait();
}

Loop::Readable::~Readable() {
  state_->ended = true;
  state_->descriptor.release();
}

}  // namespace holdfast
