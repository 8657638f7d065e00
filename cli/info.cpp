#include <fmt/format.h>
#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include "base/duration.hpp"
#include "command.hpp"
#include "exit_code.hpp"
#include "json.hpp"
#include "message.hpp"
#include "store.hpp"
#include "table.hpp"

namespace holdfast::cli {
namespace {

struct Options {
  std::string url, store;
  bool json = false;
};

std::string exact(std::chrono::milliseconds length) {
  return length.count() == 0 ? "none" : format_duration(length);
}

std::string for_people(const std::string& url, const Capabilities& can) {
  const auto yes = [](bool value) { return std::string(value ? "yes" : "no"); };
  Table table({{"CAPABILITY"}, {"VALUE"}});
  table.row(
      {"store", can.version.empty() ? can.store : fmt::format("{} {}", can.store, can.version)});
  table.row({"url", url});
  table.row({"exclusion", can.exclusion});
  table.row({"modes", fmt::format("exclusive: {}, shared: {}, permits: {}", yes(can.exclusive),
                                  yes(can.shared), yes(can.permits))});
  table.row({"several names at once", yes(can.several_names)});
  table.row({"cells", yes(can.cells)});
  table.row({"waiters are woken by",
             fmt::format("{}, {} late at most",
                         can.wake_up == Capabilities::WakeUp::event ? "event" : "polling",
                         exact(can.wake_up_bound))});
  table.row({"order of waiters",
             can.fairness == Capabilities::Fairness::fifo ? "first come, first served" : "none"});
  table.row({"a dead waiter is skipped after", exact(can.dead_waiter_bound)});
  table.row({"tokens", fmt::format("{}, {} bits", can.token_source, can.token_bits)});
  table.row({"expiry is decided by", can.expiry_clock});
  table.row({"survives a client's crash", yes(can.survives_client_crash)});
  table.row({"survives a server's restart", yes(can.survives_server_restart)});
  table.row({"survives a fail-over", yes(can.survives_failover)});
  table.row({"survives a partition", yes(can.survives_partition)});
  table.row({"TTL", fmt::format("{} to {}", exact(can.min_ttl), exact(can.max_ttl))});
  table.row({"longest name", fmt::format("{} bytes", can.max_name_bytes)});
  return table.text();
}

int info(const Options& options) {
  if (!options.url.empty() && !options.store.empty())
    throw Complaint(usage, "info", "the store is given twice, as URL and with --store", "Give one");
  const auto client = open_store(options.url.empty() ? options.store : options.url);
  if (options.json) {
    auto object = to_json(client.capabilities());
    object["url"] = client.url();
    print_line(object);
  } else {
    print(for_people(client.url(), client.capabilities()));
  }
  return ok;
}

}  // namespace

void add_info(CLI::App& app, CommandLine& line) {
  auto* command = add_command(app, "info", "Show what a store can do and what it promises.",
                              "[OPTION...] [URL]",
                              "  holdfast info\n"
                              "  holdfast info sqlite:///var/lib/app/locks.db\n"
                              "  holdfast info --json | jq .exclusion\n");
  const auto options = std::make_shared<Options>();
  command->add_option("URL", options->url, "The store; as --store");
  command->add_flag("--json", options->json, "One JSON object");
  add_store_option(*command, options->store);
  command->callback([&line, options] { line.action = [options] { return info(*options); }; });
}

}  // namespace holdfast::cli
