// holdfast-bench: what Holdfast costs, as a ratio to the same work done by hand in the same run.

#include <fmt/format.h>
#include <signal.h>
#include <sys/utsname.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include <holdfast/error.hpp>

#include "cases.hpp"
#include "progress.hpp"
#include "worker.hpp"

namespace holdfast::bench {
namespace {

/// A whole run shall take less than four minutes.
constexpr auto time_to_spare = std::chrono::seconds(60);

std::vector<Case> all_cases() {
  std::vector<Case> all;
  const auto add = [&](const std::vector<Case>& group) {
    all.insert(all.end(), group.begin(), group.end());
  };
#ifdef HOLDFAST_WITH_MEMORY
  add(memory_cases());
#endif
#ifdef HOLDFAST_WITH_SQLITE
  add(sqlite_one_thread_cases());
  add(sqlite_thread_cases());
  add(sqlite_process_cases());
  add(sqlite_lease_cases());
#endif
  return all;
}

std::string machine() {
  utsname system{};
  ::uname(&system);
  std::string processor = "?";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) {
      processor = line.substr(std::min(line.size(), line.find(':') + 2));
      break;
    }
  return fmt::format("{} x {}, Linux {}", std::thread::hardware_concurrency(), processor,
                     system.release);
}

int run(int argc, char** argv) {
  Plan plan;
  std::vector<std::string> stores;
  std::string only;
  bool as_json = false;
  bool only_list = false;
  plan.directory = "/var/tmp";

  CLI::App app(
      "Measures Holdfast against the same work done by hand on the same store, in one run.\n"
      "A ratio is judged only if raw against raw lies within 0.98 to 1.02. docs/performance.md "
      "says\n"
      "what the figures mean. Exit code 1: two holders at once, or a token that did not rise.",
      "holdfast-bench");
  std::set<std::string> known;
  for (const auto& each : all_cases()) known.emplace(each.store);
  app.add_option("STORE", stores, "Which stores (default: all)")->check(CLI::IsMember(known));
  app.add_flag("--json", as_json, "One object a line instead of a table");
  app.add_option("--case", only, "Only the cases whose name contains this");
  app.add_option("--seconds-scale", plan.scale, "Measure that many times as long")
      ->check(CLI::Range(0.01, 100.0));
  app.add_option("--directory", plan.directory,
                 "Where to make files; a tmpfs has no commits worth the name")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  app.add_flag("--quick", plan.quick, "Some seconds for all, no verdicts; still all checks");
  app.add_flag("--list", only_list, "List the cases");
  CLI11_PARSE(app, argc, argv);

  auto cases = all_cases();
  std::erase_if(cases, [&](const Case& each) {
    return (!stores.empty() && std::ranges::find(stores, each.store) == stores.end()) ||
           each.name.find(only) == std::string_view::npos;
  });
  if (only_list) {
    for (const auto& each : cases) fmt::print("{}: {}\n", each.store, each.name);
    return 0;
  }
  if (cases.empty()) {
    fmt::print(stderr, "holdfast-bench: no case is called that; --list shows them\n");
    return 64;
  }

  plan.spare = std::chrono::duration_cast<Duration>(time_to_spare * plan.scale);
  Breaches breaches;
  if (!as_json) fmt::print("{}\n\n{}", machine(), table_head());
  for (const auto& each : cases) {
    std::fflush(stdout);
    progress_case(each.store, each.name);
    const auto lines = each.run(plan, breaches);
    progress_clear();
    for (const Line& line : lines)
      as_json ? fmt::print("{}\n", json(line)) : fmt::print("{}", table_row(line));
  }
  std::fflush(stdout);
  for (const auto& words : breaches.words()) fmt::print(stderr, "BREACH {}\n", words);
  return breaches.words().empty() ? 0 : 1;
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);  // a worker that has ended is an error of write(2)
  if (argc > 2 && std::string_view(argv[1]) == holdfast::bench::worker_mark)
    return holdfast::bench::serve({argv + 2, argv + argc});
  try {
    return holdfast::bench::run(argc, argv);
  } catch (const std::exception& error) {
    holdfast::bench::progress_clear();
    fmt::print(stderr, "holdfast-bench: {}\n", error.what());
    return 2;
  }
}
