#include "run/signals.hpp"

#include <unistd.h>

#include <cerrno>

#include "message.hpp"

namespace holdfast::cli {
namespace {

constexpr int relayed[] = {SIGTERM, SIGINT,   SIGHUP,  SIGQUIT, SIGUSR1,
                           SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP};

}  // namespace

Signals::Signals() {
  // A caller that ignores SIGCHLD would have our children vanish before we can ask how they ended.
  struct sigaction by_default{}, before{};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &by_default, &before);
  ignores_children_ = (before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_IGN;

  sigset_t read;
  ::sigemptyset(&read);
  for (const int signal : relayed) ::sigaddset(&read, signal);
  ::sigaddset(&read, SIGCHLD);
  sigset_t blocked = read;
  // Handing over the terminal must not stop us, nor a reader of our messages that is gone end us.
  ::sigaddset(&blocked, SIGTTOU);
  ::sigaddset(&blocked, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &callers_mask_);
  descriptor_ = Descriptor(::signalfd(-1, &read, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor_) complain_errno("signalfd", errno);
}

std::optional<signalfd_siginfo> Signals::next() noexcept {
  signalfd_siginfo info{};
  if (::read(descriptor_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return info;
}

void Signals::stop_self() const noexcept {
  // Not SIGSTOP: the kernel ignores SIGTSTP for a process that no shell could ever continue.
  sigset_t stop;
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGTSTP);
  ::kill(::getpid(), SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &stop, nullptr);
}

}  // namespace holdfast::cli
