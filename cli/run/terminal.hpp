#pragma once

#include <sys/types.h>
#include <termios.h>

#include <optional>

#include "descriptor.hpp"

namespace holdfast::cli {

/// The controlling terminal, if there is one, and who may read from it. SIGTTOU must be blocked.
class Terminal {
 public:
  Terminal();
  ~Terminal() { take_back(); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] bool present() const noexcept { return static_cast<bool>(descriptor_); }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
  /// Our process group is in the foreground.
  [[nodiscard]] bool ours() const noexcept;
  /// The command is one that a person talks to, so it gets the terminal from its first instant. In
  /// a pipeline others may need it (`holdfast run x -- make | less`): there it gets it when it
  /// asks.
  [[nodiscard]] bool for_command() const noexcept;

  void give(pid_t group) noexcept;
  [[nodiscard]] bool given() const noexcept { return given_; }
  void take_back() noexcept;
  /// As the terminal was at the start: for when a command was killed in the middle of an editor.
  void restore_modes() noexcept;

 private:
  Descriptor descriptor_;
  std::optional<termios> modes_;
  bool given_ = false;
};

}  // namespace holdfast::cli
