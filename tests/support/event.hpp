#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "support/timing.hpp"

namespace holdfast::test {

/// Something that happens once or more and that a test waits for.
class Event {
 public:
  void set() {
    const std::lock_guard lock(mutex_);
    ++count_;
    happened_.notify_all();  // under the lock: whoever sees the count may destroy us
  }
  [[nodiscard]] int count() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }
  [[nodiscard]] bool wait(int times = 1, std::chrono::milliseconds limit = patience) {
    std::unique_lock lock(mutex_);
    return happened_.wait_for(lock, limit, [&] { return count_ >= times; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable happened_;
  int count_ = 0;
};

/// What other threads report, in order.
template <class T>
class Inbox {
 public:
  void put(T value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    filled_.notify_all();
  }
  /// The next one, or nothing if none came in time.
  [[nodiscard]] std::optional<T> take(std::chrono::milliseconds limit = patience) {
    std::unique_lock lock(mutex_);
    if (!filled_.wait_for(lock, limit, [&] { return !values_.empty(); })) return std::nullopt;
    std::optional<T> value(std::move(values_.front()));
    values_.pop_front();
    return value;
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<T> values_;
};

}  // namespace holdfast::test
