#include <fmt/format.h>
#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include "arguments.hpp"
#include "base/name.hpp"
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
  std::string name, store;
  bool json = false;
};

int revoke(const Options& options) {
  check_name_argument(options.name);
  const auto client = open_store(options.store);
  // Only for the words: who holds may change before the revocation, which alone says how many it
  // hit.
  const auto before = client.inspect(options.name);
  const auto revoked = client.revoke(options.name);
  if (options.json) {
    Json object;
    object["name"] = options.name;
    object["revoked"] = revoked;
    object["holders"] = Json::array();
    if (revoked > 0)
      for (const auto& holder : before.holders) object["holders"].push_back(to_json(holder));
    print_line(object);
  } else if (revoked == 0) {
    say(fmt::format("{} was not held: nothing to revoke", holdfast::quoted(options.name)));
  } else {
    print(fmt::format("revoked {} from {} holder{}\n", holdfast::quoted(options.name), revoked,
                      revoked == 1 ? "" : "s"));
    for (const auto& h : before.holders)
      print(fmt::format("  {}, {}, token {}, held for {}{}\n", printable(who(h.owner, h.client)),
                        mode_words(h.mode), h.token, since(h.since),
                        h.note.empty() ? "" : " (" + printable(h.note) + ")"));
  }
  return revoked > 0 ? ok : failed;
}

}  // namespace

void add_revoke(CLI::App& app, CommandLine& line) {
  auto* command = add_command(app, "revoke",
                              "Take a name away from all its holders, at once and without "
                              "asking. They are told that they lost it; the token rises, so "
                              "that what they still write can be refused; the next waiter gets "
                              "in. Exit code 1 if nobody held it.",
                              "[OPTION...] NAME", "  holdfast revoke order:payment:123456\n");
  const auto options = std::make_shared<Options>();
  command->add_option("NAME", options->name, "The name of the resource")->required();
  command->add_flag("--json", options->json, "One JSON object: name, revoked, holders");
  add_store_option(*command, options->store);
  command->callback([&line, options] { line.action = [options] { return revoke(*options); }; });
}

}  // namespace holdfast::cli
