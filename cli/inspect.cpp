#include <fmt/format.h>
#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include "arguments.hpp"
#include "command.hpp"
#include "exit_code.hpp"
#include "human.hpp"
#include "json.hpp"
#include "store.hpp"
#include "table.hpp"

namespace holdfast::cli {
namespace {

struct Options {
  std::string name, store;
  bool json = false;
};

std::string for_people(const ResourceInfo& resource) {
  auto text = fmt::format("{}: ", printable(resource.name));
  if (resource.holders.empty())
    text += resource.token == 0 ? "free, and never held as far as the store remembers\n" : "free\n";
  else
    text += fmt::format("held, {} waiting\n", resource.waiters.size());
  if (resource.token != 0) text += fmt::format("highest token so far: {}\n", resource.token);

  Table holders({{"HELD BY"}, {"OWNER"}, {"MODE"}, {"TOKEN"}, {"FOR"}, {"EXPIRES IN"}, {"NOTE"}});
  for (const auto& h : resource.holders)
    holders.row({h.client, h.owner, mode_words(h.mode), std::to_string(h.token), since(h.since),
                 human(h.expires_in), h.note});
  if (!holders.empty()) text += "\n" + holders.text();

  Table waiters(
      {{"WAITING", Table::Align::right}, {"CLIENT"}, {"OWNER"}, {"MODE"}, {"STATE"}, {"NOTE"}});
  for (std::size_t i = 0; i < resource.waiters.size(); ++i) {
    const auto& w = resource.waiters[i];
    waiters.row({std::to_string(i + 1), w.client, w.owner, mode_words(w.mode),
                 w.alive ? "" : "silent, passed over", w.note});
  }
  if (!waiters.empty()) text += "\n" + waiters.text();
  return text;
}

int inspect(const Options& options) {
  check_name_argument(options.name);
  const auto client = open_store(options.store);
  const auto resource = client.inspect(options.name);
  if (options.json)
    print_line(to_json(resource));
  else
    print(for_people(resource));
  return ok;
}

}  // namespace

void add_inspect(CLI::App& app, CommandLine& line) {
  auto* command =
      add_command(app, "inspect", "Show who holds a name and who waits for it.", "[OPTION...] NAME",
                  "  holdfast inspect order:payment:123456\n"
                  "  holdfast inspect nightly --json | jq '.holders[0].expires_in_ms'\n");
  const auto options = std::make_shared<Options>();
  command->add_option("NAME", options->name, "The name of the resource")->required();
  command->add_flag("--json", options->json, "One JSON object");
  add_store_option(*command, options->store);
  command->callback([&line, options] { line.action = [options] { return inspect(*options); }; });
}

}  // namespace holdfast::cli
