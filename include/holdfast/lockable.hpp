#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>

#include <holdfast/mutex.hpp>

namespace holdfast {

/// Makes a Mutex fit std::unique_lock, std::scoped_lock and std::lock (*TimedLockable*).
///
/// What a lease cannot promise to them: they are specified to own the mutex during their whole
/// lifetime, and `unlock()` has nowhere to report a loss. A lease can be lost at any time. So pass
/// an `on_loss` callback that stops the guarded work, or use Lease itself, which can be asked.
/// Threads that share one adapter exclude each other also while the lease is lost. Thread-safe.
class Lockable {
 public:
  /// `on_loss` is called as Lease::on_loss() says, for each lease that is lost while locked.
  Lockable(Mutex mutex, std::function<void(LossReason)> on_loss)
      : mutex_(std::move(mutex)), on_loss_(std::move(on_loss)) {}
  Lockable(const Lockable&) = delete;
  Lockable& operator=(const Lockable&) = delete;

  void lock() {
    std::unique_lock local(local_);
    hold(mutex_.acquire());
    local.release();
  }

  [[nodiscard]] bool try_lock() {
    std::unique_lock local(local_, std::try_to_lock);
    return local && hold(mutex_.try_acquire(), local);
  }

  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> wait) {
    return try_lock_until(std::chrono::steady_clock::now() + wait);
  }

  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> end) {
    std::unique_lock local(local_, end);
    return local && hold(mutex_.try_acquire_until(end), local);
  }

  /// Releases and waits for the answer; never throws. A loss was reported to `on_loss`.
  void unlock() noexcept {
    lease_.release();
    local_.unlock();
  }

  /// The lease under the lock; only to be called by the thread that has it locked.
  [[nodiscard]] const Lease& lease() const noexcept { return lease_; }

 private:
  void hold(Lease lease) {
    lease_ = std::move(lease);
    if (on_loss_) lease_.on_loss(on_loss_);
  }
  bool hold(std::optional<Lease> lease, std::unique_lock<std::timed_mutex>& local) {
    if (!lease) return false;
    hold(std::move(*lease));
    local.release();
    return true;
  }

  Mutex mutex_;
  std::function<void(LossReason)> on_loss_;
  std::timed_mutex local_;
  Lease lease_;
};

}  // namespace holdfast
