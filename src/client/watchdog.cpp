#include "client/watchdog.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <mutex>
#include <system_error>

namespace holdfast::client {

struct Watchdog::State {
  std::function<Instant(Instant)> bark;
  int timer = -1;
  std::mutex setting;  // guards the pair of `armed` and the timer's setting
  std::atomic<Instant::rep> armed{Instant::max().time_since_epoch().count()};
  std::atomic<bool> stopping{false};
  std::atomic<bool> abandoned{false};  // stopped by its own bark, whose owner may be gone

  ~State() {
    if (timer >= 0) ::close(timer);
  }

  void arm(Instant at) noexcept {
    const auto wanted = at.time_since_epoch().count();
    if (wanted >= armed.load(std::memory_order_acquire)) return;
    std::lock_guard lock(setting);
    if (wanted >= armed.load(std::memory_order_relaxed)) return;
    armed.store(wanted, std::memory_order_release);
    const auto ns = std::max<Instant::rep>(wanted, 1);  // zero would disarm
    itimerspec alarm{};
    alarm.it_value.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
    alarm.it_value.tv_nsec = static_cast<long>(ns % 1'000'000'000);
    ::timerfd_settime(timer, TFD_TIMER_ABSTIME, &alarm, nullptr);
  }

  void run() {
    for (bool last = false; !last && !abandoned.load();) {
      last = stopping.load();  // then once more, for what was to be told before the stop
      std::uint64_t times = 0;
      if (!last && ::read(timer, &times, sizeof times) < 0 && errno != EINTR) return;
      {
        std::lock_guard lock(setting);
        armed.store(Instant::max().time_since_epoch().count(), std::memory_order_release);
      }
      const Instant next = bark(boot_clock::now());
      if (next != Instant::max()) arm(next);
    }
  }
};

Watchdog::Watchdog(std::function<Instant(Instant)> bark) : state_(std::make_shared<State>()) {
  state_->bark = std::move(bark);
  state_->timer = ::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
  if (state_->timer < 0) throw std::system_error(errno, std::generic_category(), "timerfd_create");
  thread_ = std::thread([state = state_] { state->run(); });
}

void Watchdog::arm(Instant at) noexcept { state_->arm(at); }

void Watchdog::stop() noexcept {
  if (!thread_.joinable()) return;
  state_->stopping.store(true);
  {
    // Unconditionally, past the check for an earlier alarm: the thread may be about to read.
    std::lock_guard lock(state_->setting);
    itimerspec alarm{};
    alarm.it_value.tv_nsec = 1;
    ::timerfd_settime(state_->timer, TFD_TIMER_ABSTIME, &alarm, nullptr);
  }
  if (thread_.get_id() == std::this_thread::get_id()) {
    state_->abandoned.store(true);
    thread_.detach();
  } else {
    thread_.join();
  }
}

}  // namespace holdfast::client
