#include "base/loop.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

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

  // Who sets it from false to true drives. Taking and leaving need no lock unless somebody waits.
  std::atomic<bool> driven{false};
  std::atomic<int> posted{0};            // tasks on their way
  std::atomic<int> interested{0};        // parked calls, and the background thread when it idles
  std::atomic<bool> calls_since{false};  // since the background thread last looked
  std::atomic<bool> caller_came{false};  // a blocking call was posted to the background thread
  std::atomic<bool> look_wanted{false};  // whoever drives next polls before he leaves
  std::atomic<bool> stopping{false};
  std::vector<Task> deferred;  // of the driver

  std::mutex gate;  // guards what follows, and the flags of calls
  std::condition_variable background_wake;
  bool background_idle = false;  // waits for the end of a drive, without a time limit
  Call* first = nullptr;         // parked calls, oldest first
  Call* last = nullptr;
  std::thread background;

  [[nodiscard]] bool try_take() noexcept {
    bool expected = false;
    return driven.compare_exchange_strong(expected, true);
  }

  void enter() noexcept { driven_here = this; }

  /// What a task has put off until its end.
  void flush() {
    while (!deferred.empty())
      for (Task& next : std::exchange(deferred, {})) next();
  }
  void run(Task& task) {
    task();
    flush();
  }
  void run_one() noexcept {
    io.run_one();
    flush();
  }
  void run_one_for(Duration time) noexcept {
    io.run_one_for(time);
    flush();
  }

  /// Gives the loop up: to the oldest parked call, else, if work is waiting, to the background
  /// thread.
  void leave() noexcept {
    if (look_wanted.load(std::memory_order_relaxed)) {
      look_wanted.store(false);
      io.poll();
      flush();
    }
    driven_here = nullptr;
    if (!calls_since.load(std::memory_order_relaxed)) calls_since.store(true);
    driven.store(false);
    // Who begins to wait says so before he looks at `driven`: one of us sees the other.
    if (interested.load() > 0 || posted.load() > 0) pass_on();
  }

  void pass_on() noexcept {
    std::lock_guard lock(gate);
    if (first) {
      if (!try_take()) return;  // somebody came in between: he will pass it on
      Call* next = first;
      unpark(*next);
      next->promoted_ = true;
      next->wake_->notify_one();
    } else {
      background_wake.notify_one();
    }
  }

  void park(Call& call) noexcept {
    call.before_ = last;
    call.after_ = nullptr;
    (last ? last->after_ : first) = &call;
    last = &call;
    interested.fetch_add(1);
  }

  void unpark(Call& call) noexcept {
    (call.before_ ? call.before_->after_ : first) = call.after_;
    (call.after_ ? call.after_->before_ : last) = call.before_;
    interested.fetch_sub(1);
  }

  void run_background() {
    std::unique_lock lock(gate);
    while (!stopping.load()) {
      if (posted.load() == 0 && calls_since.exchange(false)) {
        background_wake.wait_for(lock, grace);
        // Calls that follow each other closely may never wait, and so never look at timers and
        // descriptors themselves.
        if (calls_since.load()) look_wanted.store(true);
        continue;
      }
      if (!try_take()) {
        background_idle = true;
        interested.fetch_add(1);
        if (driven.load() && !stopping.load()) background_wake.wait(lock);
        interested.fetch_sub(1);
        background_idle = false;
        continue;
      }
      caller_came.store(false);
      lock.unlock();
      enter();
      do {
        run_one();
      } while (!stopping.load() && !caller_came.load());
      leave();
      lock.lock();
    }
  }

  /// A task for the queue, which any thread may fill.
  void post(Task task) {
    posted.fetch_add(1);
    asio::post(io, [this, task = std::move(task)]() mutable {
      posted.fetch_sub(1);
      task();
    });
  }
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
  state_->post(std::move(task));
  if (state_->driven.load()) return;  // the driver will see it, or pass it on when it leaves
  std::lock_guard lock(state_->gate);
  state_->background_wake.notify_one();
}

void Loop::defer(Task task) {
  // Others have posted: what they bring comes first.
  if (state_->posted.load() > 0)
    state_->post(std::move(task));
  else
    state_->deferred.push_back(std::move(task));
}

bool Loop::try_run(Task& task) {
  State& loop = *state_;
  if (!loop.try_take()) return false;
  loop.enter();
  loop.run(task);
  loop.leave();
  return true;
}

bool Loop::on_loop() const noexcept { return driven_here == state_.get(); }

void Loop::drain() { state_->io.poll(); }

asio::io_context& Loop::context() noexcept { return state_->io; }

void Loop::Call::start(Task task) {
  if (loop_.try_take()) {
    driving_ = true;
    loop_.enter();
    loop_.run(task);
    return;
  }
  loop_.caller_came.store(true);
  loop_.post(std::move(task));
}

bool Loop::Call::wait_until(Instant deadline) {
  for (;;) {
    if (!driving_ && !done_.load(std::memory_order_acquire) && loop_.try_take()) {
      driving_ = true;
      loop_.enter();
    }
    if (driving_) {
      // In one total order with done(): it sees that we drive and wakes us, or we see that it is
      // done.
      while (!done_.load()) {
        if (deadline == Instant::max()) {
          loop_.run_one();
        } else {
          const auto left = until(deadline);
          if (left <= Duration::zero()) break;
          loop_.run_one_for(left);
        }
      }
      leave();
      return done_.load(std::memory_order_acquire);
    }
    std::unique_lock lock(loop_.gate);  // also: whoever is in done() must be out of it
    if (done_.load(std::memory_order_acquire)) return true;
    if (!wake_) wake_.emplace();
    loop_.park(*this);
    bool in_time = true;
    if (loop_.driven.load()) {
      const auto woken = [this] { return promoted_ || done_.load(std::memory_order_acquire); };
      if (deadline == Instant::max())
        wake_->wait(lock, woken);
      else
        in_time = wake_->wait_for(lock, until(deadline), woken);
    }
    if (promoted_) {  // the loop was taken for us
      promoted_ = false;
      driving_ = true;
      loop_.enter();
    } else {
      loop_.unpark(*this);
      if (!in_time) return done_.load(std::memory_order_acquire);
    }
  }
}

void Loop::Call::leave() noexcept {
  if (!done_.load(std::memory_order_acquire) || from_outside_.load(std::memory_order_acquire)) {
    // Another thread may be in done() now, or come there: it must find us driving or not, no half.
    std::lock_guard lock(loop_.gate);
    driving_ = false;
  } else {
    driving_ = false;
  }
  loop_.leave();
}

void Loop::Call::done() noexcept {
  State& loop = loop_;
  if (driven_here == &loop && driving_) {  // by ourselves, in a handler
    done_.store(true, std::memory_order_release);
    return;
  }
  std::lock_guard lock(loop.gate);
  from_outside_.store(true, std::memory_order_release);
  done_.store(true);
  if (wake_) wake_->notify_one();  // under the lock: afterwards the call may be gone
  if (driving_.load()) asio::post(loop.io, [] {});
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
