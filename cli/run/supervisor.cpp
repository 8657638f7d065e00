#include "run/supervisor.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/duration.hpp"
#include "human.hpp"
#include "message.hpp"
#include "run/wait.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
constexpr auto never = boot_clock::time_point::max();

/// How long the guardian lets us be late before it acts in our place.
constexpr auto guardian_patience = 500ms;

std::string_view words(LossReason reason) {
  switch (reason) {
    case LossReason::expired:
      return "it was not renewed in time (was this process or the machine paused?)";
    case LossReason::revoked:
      return "it was revoked";
    case LossReason::session_lost:
      return "the store ended our session";
    case LossReason::unreachable:
      return "the store was out of reach for too long";
    case LossReason::hold_limit:
      return "--max-hold is over";
    case LossReason::none:
    case LossReason::client_closed:
    case LossReason::forked:
      break;
  }
  return to_string(reason);
}

}  // namespace

Supervisor::Supervisor(const RunOptions& options, Lease& lease, Signals& signals,
                       Terminal& terminal, Guardian& guardian)
    : options_(options),
      lease_(lease),
      signals_(signals),
      terminal_(terminal),
      guardian_(guardian),
      alarm_(std::make_shared<Alarm>()) {
  alarm_->event = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!alarm_->event) complain_errno("eventfd", errno);
  lease_.on_loss([alarm = alarm_](LossReason) { ::eventfd_write(alarm->event.get(), 1); });
  lease_.on_jeopardy([alarm = alarm_] {
    alarm->jeopardy = true;
    ::eventfd_write(alarm->event.get(), 1);
  });
  inform_guardian();
}

int Supervisor::watch(pid_t command) {
  command_ = command;
  while (!ended_) {
    pollfd ready[] = {{signals_.descriptor(), POLLIN, 0}, {alarm_->event.get(), POLLIN, 0}};
    ::poll(ready, 2, milliseconds_to_sleep());
    // First of all: we may just have woken up from a sleep that outlasted the lease.
    check_lease();
    eventfd_t ignored = 0;
    ::eventfd_read(alarm_->event.get(), &ignored);
    while (const auto signal = signals_.next()) on_signal(static_cast<int>(signal->ssi_signo));
    on_child();
  }
  terminal_.take_back();
  if (WIFSIGNALED(status_)) terminal_.restore_modes();
  if (lost_) kill_leftovers();
  return status_;
}

void Supervisor::check_lease() {
  if (!lost_ && lease_.state() == LeaseState::lost) on_loss();
  if (lost_ && boot_clock::now() >= kill_at_) {
    say(fmt::format("the command did not end within {}: sending KILL",
                    format_duration(options_.grace)));
    guardian_.signal_group(SIGKILL);
    kill_at_ = never;
  }
  if (lost_) return;
  inform_guardian();
  if (alarm_->jeopardy.exchange(false) && !options_.quiet)
    say(fmt::format(
        "the lease on {} could not be renewed yet: it is ours for {} more", shown(lease_.names()),
        human(std::max(lease_.valid_until() - boot_clock::now(), boot_clock::duration::zero()))));
}

void Supervisor::on_loss() {
  lost_ = true;
  const auto why = fmt::format("the lease on {} is lost: {}", shown(lease_.names()),
                               words(lease_.loss_reason()));
  switch (options_.on_loss) {
    case OnLoss::terminate:
      guardian_.signal_group(SIGTERM);
      guardian_.signal_group(SIGCONT);  // a stopped process does not act on TERM
      kill_at_ = boot_clock::now() + options_.grace;
      guardian_.schedule(never, kill_at_ + guardian_patience);
      say(fmt::format("{}. TERM sent to the command, KILL follows after {}", why,
                      format_duration(options_.grace)));
      return;
    case OnLoss::kill:
      guardian_.signal_group(SIGKILL);
      say(why + ". KILL sent to the command");
      return;
    case OnLoss::warn:
      say(why + ". The command goes on WITHOUT the lock, as --on-loss warn wants");
      return;
  }
}

void Supervisor::inform_guardian() {
  if (options_.on_loss == OnLoss::warn) return;
  const auto end = lease_.valid_until() + guardian_patience;
  if (options_.on_loss == OnLoss::kill)
    guardian_.schedule(never, end);
  else
    guardian_.schedule(end, end + options_.grace);
}

int Supervisor::milliseconds_to_sleep() const {
  if (lost_ && kill_at_ == never) return -1;
  if (!lost_) return static_cast<int>(std::max(options_.ttl / 6, 10ms).count());
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(kill_at_ - boot_clock::now());
  return static_cast<int>(std::clamp(left, 0ms, std::chrono::milliseconds(60s)).count());
}

void Supervisor::kill_leftovers() {
  if (options_.on_loss == OnLoss::warn) return;
  // The command is gone, but not all that it started: they have the rest of the grace, too.
  while (boot_clock::now() < kill_at_ && kill_at_ != never && guardian_.group_has_members()) {
    pollfd ready{signals_.descriptor(), POLLIN, 0};
    ::poll(&ready, 1, 20);
    while (const auto signal = signals_.next())
      guardian_.signal_group(static_cast<int>(signal->ssi_signo));
  }
  guardian_.signal_group(SIGKILL);
}

}  // namespace holdfast::cli
