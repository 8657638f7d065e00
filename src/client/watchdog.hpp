#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "base/clock.hpp"

namespace holdfast::client {

/// A thread with an alarm on the boot clock (timerfd_create(2), CLOCK_BOOTTIME): it declares leases
/// lost and delivers signals, and waits behind no network and no disk. Waking up late after a
/// suspend, it still is the first thing to run.
class Watchdog {
 public:
  /// `bark` is called on the watchdog's thread when the alarm goes off; it answers when to go off
  /// next (Instant::max(): never).
  explicit Watchdog(std::function<Instant(Instant now)> bark);
  ~Watchdog() { stop(); }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Goes off at `at` at the latest; Instant::min(): now. Cheap unless that is earlier than so far.
  /// Thread-safe.
  void arm(Instant at) noexcept;

  /// Ends the thread; from its own thread (a callback destroyed the client) without waiting for it.
  void stop() noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace holdfast::client
