#include <fmt/format.h>
#include <stdlib.h>
#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <filesystem>

#include <holdfast/client.hpp>

#include "command.hpp"
#include "demo/half.hpp"
#include "demo/report.hpp"
#include "demo/shop.hpp"
#include "message.hpp"
#include "store.hpp"

namespace holdfast::cli {
namespace {

struct Options {
  unsigned buyers = 8;
  std::int64_t items = 100;
  std::string store;
  bool json = false, chaos = false;
};

/// Removed with all that is in it when it goes out of scope.
class TemporaryDirectory {
 public:
  TemporaryDirectory()
      : path_((std::filesystem::temp_directory_path() / "holdfast-demo-XXXXXX").string()) {
    if (!::mkdtemp(path_.data())) complain_errno("demo: temporary directory", errno, "Set TMPDIR");
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

int check(const HalfResult& result, const HalfPlan& plan) {
  if (result.lock == "none") return ok;  // it is expected to go wrong
  if (result.sold == plan.items && result.oversold == 0 && result.consistent) return ok;
  say(
      fmt::format("demo: this must not happen: {} of {} items were sold under the lock, {} are "
                  "left. Please report it",
                  result.sold, plan.items, result.left));
  return failed;
}

int sale(const Options& options) {
  Signals signals;
  const TemporaryDirectory directory;
  HalfPlan plan;
  plan.store = options.store.empty() ? sqlite_url(directory.file("locks.db")) : options.store;
  plan.items = options.items;
  plan.buyers = options.buyers;
  std::string shown_store;
  {
    // Errors come before the show; and the demo's lock must not be somebody's.
    const Client client(plan.store);
    shown_store = client.url();
    if (client.capabilities().exclusion == "one process")
      throw Complaint(unavailable, "demo",
                      "the buyers are processes, and this store is for one alone",
                      "Leave --store out, or name another one");
    if (!client.inspect("shop:item:1").holders.empty())
      throw Complaint(busy, "demo", "\"shop:item:1\" is held in this store",
                      "Is another demo running on it?");
  }

  Report report{plan, shown_store, options.chaos, options.json, {}};
  report.begin();
  int code = ok;
  for (const char* lock : {"none", "holdfast"}) {
    plan.lock = lock;
    plan.chaos = options.chaos && plan.lock == "holdfast";
    plan.shop = directory.file(lock);
    Shop::create(plan.shop, plan.items);
    const auto result = run_half(plan, signals);
    report.add(result);
    code = check(result, plan) == ok ? code : int{failed};
  }
  report.end();
  return code;
}

constexpr auto description =
    "A flash sale. Several processes sell the items of a shop whose stock they read, think "
    "about and write back, as applications do: first without a lock, which sells items that are "
    "not there, then under Holdfast. Uses a lock file of its own unless --store is given. Exit "
    "code 1 if the second half does not sell exactly what is there.";

}  // namespace

void add_demo(CLI::App& app, CommandLine& line) {
  auto* command = add_command(
      app, "demo", "See what a lock is good for, on real processes.", "sale [OPTION...]",
      "  holdfast demo sale\n"
      "  holdfast demo sale --chaos\n"
      "  HOLDFAST_STORE=... holdfast demo sale --store \"$HOLDFAST_STORE\" --buyers 16\n");
  command->require_subcommand(1);
  auto* sale_command = add_command(*command, "sale", description, "[OPTION...]",
                                   "  holdfast demo sale --chaos\n"
                                   "  holdfast demo sale --buyers 16 --items 200 --json\n");
  const auto options = std::make_shared<Options>();
  sale_command
      ->add_option("--buyers", options->buyers, "Processes that buy at the same time. Default: 8")
      ->option_text("N")
      ->check(CLI::Range(1, 256).description(""));
  sale_command->add_option("--items", options->items, "Items in the shop. Default: 100")
      ->option_text("N")
      ->check(CLI::Range(1, 1'000'000).description(""));
  sale_command->add_flag(
      "--chaos", options->chaos,
      "Throw kill -9, and SIGSTOP for longer than a lease lasts, at the buyers of the second half");
  sale_command->add_flag("--json", options->json, "One JSON object a line for each half");
  add_store_option(*sale_command, options->store);
  sale_command->callback([&line, options] { line.action = [options] { return sale(*options); }; });
}

}  // namespace holdfast::cli
