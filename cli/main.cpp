// The `holdfast` program: reads the command line, runs one command, turns errors into words and
// exit codes.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>

#include <algorithm>
#include <clocale>
#include <iostream>

#include <holdfast/error.hpp>

#include "base/name.hpp"
#include "command.hpp"
#include "interrupted.hpp"
#include "message.hpp"
#include "suggest.hpp"

namespace holdfast::cli {
namespace {

/// A closed standard stream would lend its number to the next file opened, which may be a database,
/// and error messages would be written into that.
void open_standard_streams() {
  for (int number = ::open("/dev/null", O_RDWR); number >= 0; number = ::dup(number))
    if (number > STDERR_FILENO) {
      ::close(number);
      return;
    }
}

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands(nullptr))
    if (!command->get_group().empty()) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* option : command.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// `holdfast rnu`: says so, before CLI11 calls it an unexpected argument.
void check_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front().starts_with('-')) return;
  const auto& word = arguments.front();
  const auto commands = app.get_subcommands(nullptr);
  if (std::any_of(commands.begin(), commands.end(),
                  [&](const auto* c) { return c->get_name() == word; }))
    return;
  const auto meant = suggest(word, names_of(app));
  throw Complaint(
      usage, "usage", fmt::format("there is no command {}", holdfast::quoted(word)),
      meant.empty() ? "See holdfast --help" : fmt::format("Did you mean \"holdfast {}\"?", meant));
}

/// What CLI11 says, and what could have been meant.
Complaint explain(const CLI::App& app, const CLI::ParseError& error,
                  const std::vector<std::string>& arguments) {
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  std::string words = error.what();
  words.erase(words.find_last_not_of(" .\n") + 1);
  std::string help = "See holdfast " + (chosen.empty() ? "" : command.get_name() + " ") + "--help";
  for (const auto& argument : arguments) {
    const auto option = argument.substr(0, argument.find('='));
    const auto known = options_of(command);
    if (!option.starts_with("--") || std::find(known.begin(), known.end(), option) != known.end())
      continue;
    words = fmt::format("there is no option {}", holdfast::quoted(option));
    if (const auto meant = suggest(option, known); !meant.empty())
      help = fmt::format("Did you mean {}? {}", meant, help);
    break;
  }
  return {usage, chosen.empty() ? "usage" : command.get_name(), words, help};
}

int parse_and_run(std::vector<std::string> arguments) {
  CommandLine line;
  const auto app = make_app(line);
  if (arguments.empty()) {
    std::cerr << app->help();
    return usage;
  }
  // Only a program that runs another one has a second command line behind its own.
  if (arguments.front() == "run")
    if (const auto end = std::find(arguments.begin(), arguments.end(), "--");
        end != arguments.end()) {
      line.separator = true;
      line.guarded.assign(end + 1, arguments.end());
      arguments.erase(end, arguments.end());
    }
  check_command(*app, arguments);
  try {
    app->parse(std::vector<std::string>(arguments.rbegin(),
                                        arguments.rend()));  // it takes them from the back
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app->exit(error);  // --help, --version
    throw explain(*app, error, arguments);
  }
  return line.action ? line.action() : int{usage};
}

int guarded_main(std::vector<std::string> arguments) {
  try {
    const int code = parse_and_run(std::move(arguments));
    return finish_output() || code != ok ? code : int{failed};
  } catch (const Interrupted& interrupted) {
    return 128 + interrupted.signal;
  } catch (const Complaint& complaint) {
    say(complaint.what());
    return complaint.code();
  } catch (const Error& error) {
    say(error.words());
    return exit_code(error.code());
  } catch (const std::exception& error) {
    say(fmt::format("internal error: {}. Please report it", error.what()));
    return internal;
  }
}

}  // namespace
}  // namespace holdfast::cli

int main(int argc, char** argv) {
  holdfast::cli::open_standard_streams();
  std::setlocale(LC_CTYPE, "C.UTF-8");  // for the width of names in tables
  return holdfast::cli::guarded_main({argv + (argc > 0 ? 1 : 0), argv + argc});
}
