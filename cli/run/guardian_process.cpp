// What runs in the guardian. Between fork and its end it may call only what is safe in a signal
// handler (signal-safety(7)): other threads of ours may have held any lock when it was forked.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <limits>

#include "run/guardian.hpp"

namespace holdfast::cli {
namespace {

constexpr auto never = std::numeric_limits<std::int64_t>::max();

std::int64_t now() noexcept { return boot_clock::now().time_since_epoch().count(); }

/// Keeps the pipe, as number 3, and nothing else.
void let_go_of_everything(int pipe) noexcept {
  const int null = ::open("/dev/null", O_RDWR);
  for (int number = 0; number < 3; ++number)
    if (null < 0 || ::dup2(null, number) < 0) ::close(number);
  if (pipe != 3) ::dup2(pipe, 3);
  if (::close_range(4, ~0U, 0) != 0)
    for (int number = 4; number < 65'536; ++number) ::close(number);  // kernels before 5.9
  [[maybe_unused]] const int root = ::chdir("/");                     // keeps no file system busy
}

}  // namespace

void Guardian::watch(int pipe, const Shared& shared) noexcept {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);  // what the group gets is not for us
  ::setpgid(0, 0);
  if (::getpgrp() != ::getpid()) ::_exit(1);  // else the kill() below would hit our caller's group
  ::prctl(PR_SET_NAME, "holdfast-guard");
  let_go_of_everything(pipe);

  for (bool terminated = false;;) {
    const auto at = now();
    const auto terminate_at =
        terminated ? never : shared.terminate_at.load(std::memory_order_seq_cst);
    const auto kill_at = shared.kill_at.load(std::memory_order_seq_cst);
    if (at >= kill_at) ::kill(0, SIGKILL);  // and us with it
    if (at >= terminate_at) {
      ::kill(0, SIGTERM);
      ::kill(0, SIGCONT);  // a stopped process does not act on TERM
      terminated = true;
      continue;
    }
    // The instants move away with each renewal; that they have moved is seen when they would have
    // come. A suspended machine stops the timeout but not boot_clock, so never sleep for long.
    const auto left = std::min({terminate_at - at, kill_at - at, std::int64_t{10'000'000'000}});
    const timespec timeout{static_cast<std::time_t>(left / 1'000'000'000),
                           static_cast<long>(left % 1'000'000'000)};
    pollfd leash{3, POLLIN, 0};
    if (::ppoll(&leash, 1, &timeout, nullptr) <= 0) continue;
    char word = 0;
    const auto size = ::read(3, &word, 1);
    if (size == 1) ::_exit(0);          // dismissed
    if (size == 0) ::kill(0, SIGKILL);  // we were killed: nobody guards the lease any more
    if (size < 0 && errno != EINTR) ::kill(0, SIGKILL);
  }
}

}  // namespace holdfast::cli
