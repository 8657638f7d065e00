#include "run/terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace holdfast::cli {

Terminal::Terminal() : descriptor_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {
  termios modes{};
  if (descriptor_ && ::tcgetattr(descriptor_.get(), &modes) == 0) modes_ = modes;
}

bool Terminal::ours() const noexcept {
  return present() && ::tcgetpgrp(descriptor_.get()) == ::getpgrp();
}

bool Terminal::for_command() const noexcept {
  return ours() && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

void Terminal::give(pid_t group) noexcept {
  if (present() && ::tcsetpgrp(descriptor_.get(), group) == 0) given_ = true;
}

void Terminal::take_back() noexcept {
  if (!given_) return;
  ::tcsetpgrp(descriptor_.get(), ::getpgrp());
  given_ = false;
}

void Terminal::restore_modes() noexcept {
  if (modes_ && ours()) ::tcsetattr(descriptor_.get(), TCSADRAIN, &*modes_);
}

}  // namespace holdfast::cli
