// The part of the supervisor that a shell would call job control.

#include <fmt/format.h>
#include <sys/wait.h>

#include "human.hpp"
#include "message.hpp"
#include "run/supervisor.hpp"
#include "run/wait.hpp"

namespace holdfast::cli {

void Supervisor::on_signal(int signal) {
  switch (signal) {
    case SIGCHLD:
      return;  // on_child() asks anyway
    case SIGCONT:
      return on_continue();
    default:
      guardian_.signal_group(signal);
  }
}

void Supervisor::on_child() {
  int status = 0;
  while (!ended_ && ::waitpid(command_, &status, WNOHANG | WUNTRACED) == command_) {
    if (WIFSTOPPED(status)) {
      on_stopped(WSTOPSIG(status));
    } else {
      status_ = status;
      ended_ = true;
    }
  }
}

void Supervisor::on_stopped(int signal) {
  const bool asks = signal == SIGTTIN || signal == SIGTTOU;
  if (asks && terminal_.ours()) {  // in a pipeline it was not given the terminal at once
    terminal_.give(guardian_.group());
    guardian_.signal_group(SIGCONT);
    return;
  }
  // SIGSTOP came from somebody who wants the command alone to stop, and without a terminal there is
  // no shell that could continue us.
  if (!terminal_.present() || (!asks && signal != SIGTSTP)) return;
  wants_terminal_ = asks || terminal_.given();
  terminal_.take_back();
  if (!lost_ && !options_.quiet)
    say(fmt::format("stopped. Nobody renews the lease on {} meanwhile: it is ours for {} more",
                    shown(lease_.names()), human(lease_.valid_until() - boot_clock::now())));
  signals_.stop_self();  // so that the shell sees a stopped job
}

void Supervisor::on_continue() {
  check_lease();
  if (lost_) return;  // TERM and CONT have been sent, or KILL
  if (wants_terminal_ && terminal_.ours()) terminal_.give(guardian_.group());
  wants_terminal_ = false;
  guardian_.signal_group(SIGCONT);
}

}  // namespace holdfast::cli
