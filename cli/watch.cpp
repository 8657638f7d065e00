#include "watch.hpp"

#include <fmt/format.h>
#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <ctime>
#include <optional>

#include <holdfast/clock.hpp>
#include <holdfast/error.hpp>

#include "arguments.hpp"
#include "command.hpp"
#include "exit_code.hpp"
#include "message.hpp"
#include "store.hpp"

namespace holdfast::cli {
namespace {

struct Options {
  std::string name, store;
  bool json = false;
};

std::string time_of_day() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::tm parts{};
  ::localtime_r(&now.tv_sec, &parts);
  return fmt::format("{:02}:{:02}:{:02}.{:03}", parts.tm_hour, parts.tm_min, parts.tm_sec,
                     now.tv_nsec / 1'000'000);
}

void show(const Options& options, const std::vector<Change>& found) {
  for (const auto& change : found)
    if (options.json)
      print_line(to_json(change));
    else
      print(fmt::format("{}  {}\n", time_of_day(), words_of(change)));
}

/// True when the user has asked to end.
bool wait_a_moment(const sigset_t& signals) {
  static constexpr timespec interval{0, 200'000'000};
  return ::sigtimedwait(&signals, nullptr, &interval) > 0;
}

int watch(const Options& options) {
  check_name_argument(options.name);
  // Before the client starts its threads, so that they leave the signals to this one.
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  const auto client = open_store(options.store);
  std::optional<ResourceInfo> before;
  boot_clock::time_point looked{};
  bool trouble = false;
  do {
    try {
      const auto at = boot_clock::now();
      auto now = client.inspect(options.name);
      show(options, before ? changes(*before, now, at - looked) : first_look(now));
      before = std::move(now);
      looked = at;
      trouble = false;
    } catch (const Error& error) {
      // A watcher outlives a store's restart; but it says once that it sees nothing.
      if (!before) throw;
      if (!trouble) show(options, {{Change::Kind::trouble, {}, 0, error.words()}});
      trouble = true;
    }
    if (std::ferror(stdout) != 0) return failed;
  } while (!wait_a_moment(signals));
  return ok;
}

}  // namespace

void add_watch(CLI::App& app, CommandLine& line) {
  auto* command = add_command(
      app, "watch",
      "Print a line each time that a name changes hands. Looks five times a second, so that "
      "shorter tenures may go unseen. Ends on Ctrl-C.",
      "[OPTION...] NAME",
      "  holdfast watch nightly\n"
      "  holdfast watch nightly --json | jq -r 'select(.event == \"granted\") | .owner'\n");
  const auto options = std::make_shared<Options>();
  command->add_option("NAME", options->name, "The name of the resource")->required();
  command->add_flag("--json", options->json,
                    "One JSON object a line: time, event (free, held, granted, released, "
                    "expired, waiters, trouble), the holder's fields, waiters");
  add_store_option(*command, options->store);
  command->callback([&line, options] { line.action = [options] { return watch(*options); }; });
}

}  // namespace holdfast::cli
