#include "demo/half.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "demo/buyer.hpp"
#include "demo/buyers.hpp"
#include "demo/shop.hpp"
#include "demo/tormentor.hpp"
#include "interrupted.hpp"
#include "message.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

/// Nothing has happened for so long that nothing will.
constexpr auto patience = 60s;

class Half {
 public:
  Half(const HalfPlan& plan, Signals& signals)
      : plan_(plan),
        signals_(signals),
        buyers_(plan, signals.callers_mask()),
        tormentor_(plan.items) {}

  HalfResult run() {
    while (!buyers_.all_done()) {
      wait();
      while (const auto signal = signals_.next()) on_signal(static_cast<int>(signal->ssi_signo));
      read_events();
      buyers_.continue_those_due();
      buyers_.look_after();
    }
    const auto end = boot_clock::now();
    read_events();
    show_progress(true);
    return result(end);
  }

 private:
  void wait() {
    auto until = last_event_ + patience;
    if (const auto due = buyers_.next_due()) until = std::min(until, *due);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - boot_clock::now());
    pollfd ready[] = {{signals_.descriptor(), POLLIN, 0}, {buyers_.events(), POLLIN, 0}};
    ::poll(ready, 2, static_cast<int>(std::max(left, 0ms).count()));
    if (boot_clock::now() >= last_event_ + patience)
      throw Complaint(failed, "demo", "nothing has been bought for a minute",
                      "Is the store overloaded?");
  }

  void on_signal(int signal) {
    if (ends_a_wait(signal)) throw Interrupted{signal};
    if (signal == SIGTSTP)
      signals_.stop_self();  // Ctrl-Z: the terminal has stopped the buyers, too
  }

  void read_events() {
    BuyerEvent events[256];
    for (ssize_t size = 0; (size = ::read(buyers_.events(), events, sizeof events)) > 0;) {
      last_event_ = boot_clock::now();
      std::for_each_n(events, static_cast<std::size_t>(size) / sizeof(BuyerEvent),
                      [this](auto& e) { on_event(e); });
    }
    show_progress(false);
  }

  void on_event(const BuyerEvent& event) {
    switch (event.kind) {
      case BuyerEvent::Kind::ready:
        if (++ready_ < buyers_.size() || started_) return;
        started_ = boot_clock::now();
        return buyers_.start();
      case BuyerEvent::Kind::granted:
        waits_.push_back(event.value);
        if (plan_.chaos) tormentor_.on_grant(buyers_, event.buyer);
        return;
      case BuyerEvent::Kind::sold:
        ++sold_;
        return tormentor_.on_sale();
      case BuyerEvent::Kind::done:
      case BuyerEvent::Kind::rejected:
        return;
    }
  }

  void show_progress(bool end) {
    if (!progress_) return;
    const auto now = boot_clock::now();
    if (!end && now - shown_ < 50ms) return;
    shown_ = now;
    const auto line = end ? std::string("\r\033[K")
                          : fmt::format("\r\033[K{}: {} sold",
                                        plan_.lock == "none" ? "no lock" : "under holdfast", sold_);
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  }

  HalfResult result(boot_clock::time_point end) {
    const auto totals = Shop(plan_.shop).totals();
    HalfResult result;
    result.lock = plan_.lock;
    result.sold = totals.orders;
    result.oversold = std::max<std::int64_t>(totals.orders - plan_.items, 0);
    result.rejected_writes = totals.rejected;
    result.left = totals.stock;
    result.consistent = totals.orders + totals.stock == plan_.items;
    result.seconds = std::chrono::duration<double>(end - started_.value_or(end)).count();
    std::sort(waits_.begin(), waits_.end());
    result.waits_us = std::move(waits_);
    result.kills = tormentor_.kills();
    result.stops = tormentor_.stops();
    return result;
  }

  const HalfPlan& plan_;
  Signals& signals_;
  Buyers buyers_;
  Tormentor tormentor_;
  std::vector<std::uint32_t> waits_;
  std::int64_t sold_ = 0;
  std::size_t ready_ = 0;
  std::optional<boot_clock::time_point> started_;
  boot_clock::time_point last_event_ = boot_clock::now(), shown_ = last_event_;
  bool progress_ = ::isatty(STDERR_FILENO) == 1;
};

}  // namespace

double HalfResult::acquisitions_per_second() const {
  return seconds > 0 ? static_cast<double>(waits_us.size()) / seconds : 0;
}

std::uint32_t HalfResult::wait_us(double quantile) const {
  if (waits_us.empty()) return 0;
  const auto rank = std::ceil(quantile * static_cast<double>(waits_us.size()));
  return waits_us[std::min(waits_us.size(), static_cast<std::size_t>(std::max(rank, 1.0))) - 1];
}

HalfResult run_half(const HalfPlan& plan, Signals& signals) { return Half(plan, signals).run(); }

}  // namespace holdfast::cli
