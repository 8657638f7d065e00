#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>
#include <CLI/App.hpp>

#include "human.hpp"
#include "interrupted.hpp"
#include "message.hpp"
#include "run/command_process.hpp"
#include "run/run.hpp"
#include "run/supervisor.hpp"
#include "run/wait.hpp"
#include "store.hpp"

namespace holdfast::cli {
namespace {

/// When a program that had the terminal dies of Ctrl-C, the shell script that called us must see
/// it, too: the terminal sent the signal to the program's group alone. Dies of the signal, as all
/// would have.
void pass_on_interrupt() {
  sigset_t interrupt;
  ::sigemptyset(&interrupt);
  ::sigaddset(&interrupt, SIGINT);
  ::kill(0, SIGINT);
  ::pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
}

ClientOptions client_options(const RunOptions& options) {
  ClientOptions how;
  if (options.verbose)
    how.log = [](const LogEntry& entry) {
      say(fmt::format("{}{}{}: {}", entry.event, entry.resource.empty() ? "" : " ", entry.resource,
                      entry.words));
    };
  return how;
}

void tell_grant(const RunOptions& options, const Lease& lease, boot_clock::duration waited) {
  const auto before = lease.predecessor();
  if (!options.quiet && (before == Predecessor::expired || before == Predecessor::revoked))
    say(fmt::format("the lease before ours {}: what it was to protect may be half done",
                    before == Predecessor::expired ? "expired" : "was revoked"));
  if (options.verbose)
    say(fmt::format("{} granted after {}, token {}", shown(options.names), human(waited),
                    lease.token(options.names.front())));
}

/// Gives the lease back and turns all that happened into an exit code.
int finish(const RunOptions& options, Lease& lease, bool lease_lost, int status) {
  const auto released = lease.release();
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (lease_lost) return lost;
  if (released == ReleaseOutcome::already_lost) {
    say(fmt::format("the lease on {} was lost before the command ended (it ended with {})",
                    shown(options.names), code));
    return lost;
  }
  if (released == ReleaseOutcome::unknown)
    say(fmt::format("the store did not confirm that {} is released: others get it after {} at most",
                    shown(options.names), human(options.ttl)));
  if (options.verbose)
    say(fmt::format("{} released; the command ended with {}", shown(options.names), code));
  return code;
}

int run_under_lease(const RunOptions& options, Signals& signals) {
  const Client client(store_url(options.store), client_options(options));
  if (client.capabilities().exclusion == "one process")
    throw Complaint(unavailable, "store " + client.url(),
                    "it ends with this process, so it locks nobody out",
                    "Name one that is shared, such as sqlite:///var/lib/app/locks.db");
  const auto begin = boot_clock::now();
  Lease lease = wait_for_lease(client, options, signals);
  tell_grant(options, lease, boot_clock::now() - begin);

  Terminal terminal;
  Guardian guardian;
  Supervisor supervisor(options, lease, signals, terminal, guardian);
  CommandPlan plan{options.command,        command_environment(lease, options.names, options.ttl),
                   guardian.group(),       -1,
                   signals.callers_mask(), signals.caller_ignores_children()};
  const bool interactive = terminal.for_command();
  if (interactive) {
    terminal.give(guardian.group());
    plan.terminal = terminal.descriptor();
  }
  while (const auto signal = signals.next())
    if (ends_a_wait(static_cast<int>(signal->ssi_signo)))
      throw Interrupted{static_cast<int>(signal->ssi_signo)};
  if (lease.state() == LeaseState::lost)
    throw Complaint(
        lost, "lease",
        fmt::format("lost before the command was started ({})", to_string(lease.loss_reason())),
        "The command was not started");
  const int status = supervisor.watch(start_command(plan));
  const int code = finish(options, lease, supervisor.lease_lost(), status);
  guardian.dismiss();
  if (interactive && code == 128 + SIGINT && WIFSIGNALED(status)) pass_on_interrupt();
  return code;
}

}  // namespace

int run(const RunOptions& options) {
  Signals signals;  // before the client starts its threads
  return run_under_lease(options, signals);
}

}  // namespace holdfast::cli
