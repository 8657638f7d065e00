// The command line of `holdfast run`.

#include <fmt/format.h>
#include <CLI/App.hpp>

#include "arguments.hpp"
#include "base/name.hpp"
#include "command.hpp"
#include "message.hpp"
#include "run/run.hpp"
#include "store.hpp"

namespace holdfast::cli {
namespace {

/// As written by the user.
struct Texts {
  std::string wait, ttl = "30s", grace = "10s", max_hold, on_loss = "term";
  bool no_wait = false;
  RunOptions options;
};

void check_names(const Texts& texts) {
  const auto& names = texts.options.names;
  for (const auto& name : names)
    if (name.size() > 1 && name.front() == '-')
      throw Complaint(usage, "run", fmt::format("there is no option {}", holdfast::quoted(name)),
                      "See holdfast run --help");
  if (names.empty())
    throw Complaint(usage, "run", "no NAME is given", "Write: holdfast run NAME -- COMMAND");
  for (const auto& name : names) check_name_argument(name);
  if (const auto all = canonical_names(names); !all)
    throw Complaint(usage, "run", all.failure().words);
  if (names.size() > 1 && texts.options.permits > 0)
    throw Complaint(usage, "--permits", "several names cannot be taken as permits at once",
                    "Give one NAME");
}

void check_command(const CommandLine& line, const std::vector<std::string>& names) {
  if (!line.guarded.empty() && !line.guarded.front().empty()) return;
  if (line.separator)
    throw Complaint(usage, "run", "no COMMAND follows the --",
                    "Write: holdfast run NAME -- COMMAND");
  // `holdfast run nightly ./backup`: the likely mistake.
  if (names.size() > 1)
    throw Complaint(usage, "run", "there is no -- before the command",
                    fmt::format("Did you mean: holdfast run {} -- {} ...?", names[0], names[1]));
  throw Complaint(usage, "run", "no COMMAND is given", "Write: holdfast run NAME -- COMMAND");
}

RunOptions checked(Texts texts, const CommandLine& line) {
  auto& options = texts.options;
  check_names(texts);
  check_command(line, options.names);
  options.command = line.guarded;
  if (texts.no_wait) options.wait = std::chrono::milliseconds(0);
  if (!texts.wait.empty()) options.wait = duration_argument("--wait", texts.wait);
  options.ttl = duration_argument("--ttl", texts.ttl);
  options.grace = duration_argument("--grace", texts.grace);
  if (!texts.max_hold.empty()) {
    options.max_hold = duration_argument("--max-hold", texts.max_hold);
    if (options.max_hold.count() == 0)
      throw Complaint(usage, "--max-hold", "0 would end the hold at once",
                      "Leave the option out for no limit");
  }
  check_text_argument("--note", options.note, 256);
  check_text_argument("--owner", options.owner, 128);
  options.on_loss = texts.on_loss == "term"   ? OnLoss::terminate
                    : texts.on_loss == "kill" ? OnLoss::kill
                                              : OnLoss::warn;
  return options;
}

void add_options(CLI::App& command, Texts& texts) {
  auto& options = texts.options;
  auto* wait = command.add_option("--wait", texts.wait,
                                  "Wait for the lock at most so long. Default: for ever");
  wait->option_text("DURATION");
  command.add_flag("--no-wait", texts.no_wait, "Give up at once if others hold it")->excludes(wait);
  command
      .add_option("--ttl", texts.ttl,
                  "How long the lock outlives a crash of this machine. Renewed in the "
                  "background. Default: 30s")
      ->option_text("DURATION");
  auto* shared =
      command.add_flag("--shared", options.shared, "A reader's lock: shared with other readers");
  command.add_option("--permits", options.permits, "One of N permits of a semaphore")
      ->option_text("N")
      ->excludes(shared)
      ->check(CLI::Range(1U, 4'294'967'295U).description(""));
  command
      .add_option("--on-loss", texts.on_loss,
                  "What happens to the command when the lock is lost: term (TERM, then KILL "
                  "after the grace), kill, or warn (only say so). Default: term")
      ->option_text("term|kill|warn")
      ->check(CLI::IsMember({"term", "kill", "warn"}).description(""));
  command.add_option("--grace", texts.grace, "Between TERM and KILL. Default: 10s")
      ->option_text("DURATION");
  command
      .add_option("--max-hold", texts.max_hold,
                  "Lose the lock after so long, whatever the command does. Default: never")
      ->option_text("DURATION");
  command
      .add_option("--note", options.note, "Shown by inspect and ls, for other people. No secrets")
      ->option_text("TEXT");
  command
      .add_option("--owner", options.owner,
                  "Who holds the lock. Default: a random word for each run")
      ->option_text("TEXT");
  auto* quiet = command.add_flag("-q,--quiet", options.quiet, "Print errors only");
  command.add_flag("-v,--verbose", options.verbose, "Say what happens to the lock")
      ->excludes(quiet);
  add_store_option(command, options.store);
}

constexpr auto description =
    "Run a command while holding a lock. Several NAMEs are taken together, all or none. The "
    "command runs in a process group of its own, which gets the signals that holdfast gets; it "
    "is stopped when the lock is lost, and killed when holdfast is.";

constexpr auto examples =
    R"(  holdfast run nightly-backup --no-wait -- ./backup.sh
  holdfast run order:payment:42 --wait 10s --ttl 15s -- ./pay 42
  holdfast run disk:/dev/sda disk:/dev/sdb -- ./rebalance
  holdfast run reports --shared -- ./read-reports
  holdfast run downloads --permits 3 -- curl -O https://example.org/big
  holdfast run job -- sh -c 'psql -v token=$HOLDFAST_TOKEN -f job.sql'

Durations: 500ms, 10s, 5m, 1h30m.
The command's environment: HOLDFAST_TOKEN (the fencing token of the first
NAME), HOLDFAST_TOKENS (all, as a JSON object), HOLDFAST_NAME, HOLDFAST_NAMES
(a JSON array), HOLDFAST_OWNER, HOLDFAST_TTL_MS.
Exit codes: the command's own (128+n if signal n killed it); 64 usage,
69 store unavailable, 75 busy or timed out, 76 lock lost, 126 and 127 the
command cannot be executed or found, 128+n if signal n ended the wait.
)";

}  // namespace

void add_run(CLI::App& app, CommandLine& line) {
  auto* command = add_command(app, "run", description,
                              "[OPTION...] NAME... -- COMMAND [ARGUMENT...]", examples);
  const auto texts = std::make_shared<Texts>();
  add_options(*command, *texts);
  // Names do not come as a positional of CLI11, which would take "[a,b]" for two of them.
  command->allow_extras();
  command->callback([&line, texts, command] {
    texts->options.names = command->remaining();
    line.action = [&line, texts] { return run(checked(*texts, line)); };
  });
}

}  // namespace holdfast::cli
