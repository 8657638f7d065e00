#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "plan.hpp"

namespace holdfast::bench {

/// Threads that all do the same, a slice at a time.
class Team {
 public:
  /// Works until the instant has come, then finishes what it is at.
  using Body = std::function<void(unsigned thread, Instant until)>;

  Team(unsigned size, Body body);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  [[nodiscard]] unsigned size() const noexcept { return static_cast<unsigned>(threads_.size()); }
  /// Lets all of them work for `length`; returns how long it took until the last one had finished.
  /// Throws what one of them threw.
  Duration run(Duration length);

 private:
  void work(unsigned thread);

  Body body_;
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  unsigned slice_ = 0;
  unsigned working_ = 0;
  bool over_ = false;
  Instant until_{};
  std::exception_ptr thrown_;
  std::vector<std::thread> threads_;
};

}  // namespace holdfast::bench
