#pragma once

#include <atomic>
#include <memory>

#include <holdfast/lease.hpp>

#include "descriptor.hpp"
#include "run/guardian.hpp"
#include "run/options.hpp"
#include "run/signals.hpp"
#include "run/terminal.hpp"

namespace holdfast::cli {

/// Stays beside the command from its start to its end: relays signals, hands the terminal to and
/// fro, stops the command when the lease is lost, and keeps the guardian informed.
class Supervisor {
 public:
  Supervisor(const RunOptions& options, Lease& lease, Signals& signals, Terminal& terminal,
             Guardian& guardian);

  /// Returns the command's wait status. The terminal is ours again then.
  [[nodiscard]] int watch(pid_t command);

  [[nodiscard]] bool lease_lost() const noexcept { return lost_; }

 private:
  /// Set by the client's threads; outlives us if they are late.
  struct Alarm {
    Descriptor event;
    std::atomic<bool> jeopardy{false};
  };

  void check_lease();
  void on_loss();
  void inform_guardian();
  void on_signal(int signal);
  void on_continue();
  void on_child();
  void on_stopped(int signal);
  void kill_leftovers();
  [[nodiscard]] int milliseconds_to_sleep() const;

  const RunOptions& options_;
  Lease& lease_;
  Signals& signals_;
  Terminal& terminal_;
  Guardian& guardian_;
  std::shared_ptr<Alarm> alarm_;

  pid_t command_ = -1;
  int status_ = 0;
  bool ended_ = false;
  bool lost_ = false;
  bool wants_terminal_ = false;  ///< it was stopped while it had it, or because it had not
  boot_clock::time_point kill_at_ = boot_clock::time_point::max();
};

}  // namespace holdfast::cli
