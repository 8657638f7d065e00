#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace holdfast::cli {

/// The command line as far as Holdfast reads it, and the command that was chosen.
struct CommandLine {
  std::vector<std::string> guarded;  ///< `run`: what follows --
  bool separator = false;            ///< `run`: there was a --
  std::function<int()> action;       ///< set by the chosen command; returns the exit code
};

/// Each adds one command, with its options and its help, to the program. A command's file is all
/// that knows of it: help and shell completion are made from what is added here.
void add_run(CLI::App& app, CommandLine& line);
void add_ls(CLI::App& app, CommandLine& line);
void add_inspect(CLI::App& app, CommandLine& line);
void add_revoke(CLI::App& app, CommandLine& line);
void add_info(CLI::App& app, CommandLine& line);
void add_watch(CLI::App& app, CommandLine& line);
void add_demo(CLI::App& app, CommandLine& line);
void add_demo_buyer(CLI::App& app, CommandLine& line);  // hidden: `demo` starts it
void add_completion(CLI::App& app, CommandLine& line);
void add_version(CLI::App& app, CommandLine& line);

/// Adds a command. `usage` is what stands after its name; `examples` are whole lines.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description,
                      const std::string& usage, const std::string& examples);

/// The whole program.
[[nodiscard]] std::unique_ptr<CLI::App> make_app(CommandLine& line);

}  // namespace holdfast::cli
