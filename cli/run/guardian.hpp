#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include <holdfast/clock.hpp>

#include "descriptor.hpp"

namespace holdfast::cli {

/// A tiny process that outlives us when we are killed or frozen, and then stops the command.
///
/// It leads the process group in which the command runs. That settles three things at once: a group
/// whose leader has not been reaped keeps its number, so neither we nor the guardian can ever hit a
/// stranger's group; "kill my own group" needs no number at all; and the group exists before the
/// command does. It holds nothing of ours: no terminal, no pipe of the user's, no lock file.
class Guardian {
 public:
  /// Forks. Throws Complaint.
  Guardian();
  ~Guardian();  ///< dismisses
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  [[nodiscard]] pid_t group() const noexcept { return group_; }

  /// When the guardian is to act on its own, unless told otherwise in time: it sends TERM to the
  /// group at the one instant and KILL at the other. max() means never.
  void schedule(boot_clock::time_point terminate, boot_clock::time_point kill) noexcept;

  /// Sends a signal to the command and all its descendants that stayed in its group.
  void signal_group(int signal) const noexcept;

  /// Is anybody left in the group, apart from the guardian? (Reads /proc: not for hot paths.)
  [[nodiscard]] bool group_has_members() const;

  /// Ends the guardian and leaves the group alone. Idempotent.
  void dismiss() noexcept;

 private:
  struct Shared {
    std::atomic<std::int64_t> terminate_at, kill_at;  // boot_clock, nanoseconds
  };
  [[noreturn]] static void watch(int pipe, const Shared& shared) noexcept;

  Shared* shared_ = nullptr;
  Descriptor leash_;  ///< its other end tells the guardian when we are gone
  pid_t group_ = -1;
};

}  // namespace holdfast::cli
