#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include <optional>

#include "descriptor.hpp"

namespace holdfast::cli {

/// The signals that `holdfast run` reads instead of being hit by them: those that it relays, and
/// the one that tells of children. Make it before any thread, so that all threads block them.
class Signals {
 public:
  Signals();
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
  [[nodiscard]] std::optional<signalfd_siginfo> next() noexcept;

  /// What the command inherits: as it would have been without us.
  [[nodiscard]] const sigset_t& callers_mask() const noexcept { return callers_mask_; }
  [[nodiscard]] bool caller_ignores_children() const noexcept { return ignores_children_; }

  /// Stops this process as Ctrl-Z would, unless nobody could continue it. Returns when continued.
  void stop_self() const noexcept;

 private:
  sigset_t callers_mask_{};
  bool ignores_children_ = false;
  Descriptor descriptor_;
};

/// The signals that end a wait for a lock.
[[nodiscard]] inline bool ends_a_wait(int signal) noexcept {
  return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

}  // namespace holdfast::cli
