#include <CLI/App.hpp>
#include <CLI/Config.hpp>

#include <holdfast/version.hpp>

#include "command.hpp"
#include "help.hpp"

namespace holdfast::cli {

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description,
                      const std::string& usage, const std::string& examples) {
  auto* command = app.add_subcommand(name, description)->group("Commands");
  command->set_help_flag("-h,--help", "Show this help");
  command->formatter(std::make_shared<HelpFormatter>(usage));
  if (!examples.empty()) command->footer("\nExamples:\n" + examples);
  return command;
}

std::unique_ptr<CLI::App> make_app(CommandLine& line) {
  auto app = std::make_unique<CLI::App>(
      "Locks that hold across processes and machines: run a command under one, see who holds "
      "what, take one away.",
      "holdfast");
  app->formatter(std::make_shared<HelpFormatter>("COMMAND [OPTION...] [ARGUMENT...]"));
  app->set_help_flag("-h,--help", "Show this help; after a command, the help of that command");
  app->set_version_flag("-V,--version", "holdfast " + std::string(version), "Show the version");
  app->require_subcommand(1);
  for (const auto add : {add_run, add_ls, add_inspect, add_revoke, add_watch, add_info, add_demo,
                         add_demo_buyer, add_completion, add_version})
    add(*app, line);
  app->footer(R"(
Examples:
  holdfast demo sale                          what a lock is good for, in two seconds
  holdfast run nightly --no-wait -- ./backup  never two at a time
  holdfast ls                                 who holds what
  holdfast inspect nightly                    ... and who waits

The store is the URL in HOLDFAST_STORE, else an SQLite file of yours:
~/.local/state/holdfast/locks.db. Full manual: man holdfast
)");
  return app;
}

}  // namespace holdfast::cli
