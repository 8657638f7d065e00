#include <fmt/format.h>
#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include "arguments.hpp"
#include "command.hpp"
#include "exit_code.hpp"
#include "human.hpp"
#include "json.hpp"
#include "message.hpp"
#include "store.hpp"
#include "table.hpp"

namespace holdfast::cli {
namespace {

struct Options {
  std::string prefix, store;
  std::size_t limit = 1000;
  bool json = false;
};

int ls(const Options& options) {
  if (!options.prefix.empty()) check_name_argument(options.prefix);
  const auto client = open_store(options.store);
  // One more than wanted tells whether there are more.
  auto resources = client.list(options.prefix, options.limit + 1);
  const bool more = resources.size() > options.limit;
  if (more) resources.resize(options.limit);

  Table table({{"NAME"},
               {"MODE"},
               {"HELD BY"},
               {"FOR"},
               {"EXPIRES IN"},
               {"TOKEN"},
               {"WAITERS", Table::Align::right},
               {"NOTE"}});
  for (const auto& resource : resources) {
    if (options.json) {
      print_line(to_json(resource));
      continue;
    }
    const auto waiters = resource.waiters.empty() ? "" : std::to_string(resource.waiters.size());
    if (resource.holders.empty()) table.row({resource.name, "", "nobody", "", "", "", waiters, ""});
    for (const auto& holder : resource.holders) {
      const bool first = &holder == &resource.holders.front();
      table.row({first ? resource.name : "", mode_words(holder.mode),
                 who(holder.owner, holder.client), since(holder.since), human(holder.expires_in),
                 std::to_string(holder.token), first ? waiters : "", holder.note});
    }
  }
  if (!table.empty()) print(table.text());
  if (table.empty() && !options.json)
    say(options.prefix.empty()
            ? fmt::format("nothing is held or waited for in {}", client.url())
            : fmt::format("nothing that starts with \"{}\" is held or waited for in {}",
                          options.prefix, client.url()));
  if (more) say(fmt::format("there are more than {}: --limit N shows N of them", options.limit));
  return ok;
}

}  // namespace

void add_ls(CLI::App& app, CommandLine& line) {
  auto* command = add_command(app, "ls", "List what is held or waited for.", "[OPTION...] [PREFIX]",
                              "  holdfast ls\n"
                              "  holdfast ls order:payment:\n"
                              "  holdfast ls --json | jq -r 'select(.waiters != []) | .name'\n");
  const auto options = std::make_shared<Options>();
  command->add_option("PREFIX", options->prefix, "Only names that start with it");
  command->add_flag("--json", options->json, "One JSON object a line, as inspect prints");
  command->add_option("--limit", options->limit, "At most so many names. Default: 1000")
      ->option_text("N")
      ->check(CLI::Range(1, 1'000'000).description(""));
  add_store_option(*command, options->store);
  command->callback([&line, options] { line.action = [options] { return ls(*options); }; });
}

}  // namespace holdfast::cli
