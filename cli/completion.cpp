#include <CLI/App.hpp>

#include <algorithm>

#include "command.hpp"
#include "completion.hpp"
#include "exit_code.hpp"
#include "json.hpp"

namespace holdfast::cli {
namespace {

/// What stands before the details.
std::string summary(const std::string& text) {
  auto end = std::min(text.find(". "), text.find(": "));
  if (end == std::string::npos && text.ends_with('.')) end = text.size() - 1;
  return text.substr(0, end);
}

/// What a help text shows as `term|kill|warn`.
std::vector<std::string> values_of(const CLI::Option& option) {
  const auto& text = option.get_option_text();
  return text.find('|') == std::string::npos ? std::vector<std::string>{}
                                             : CLI::detail::split(text, '|');
}

Completion::Option describe(const CLI::Option& option) {
  Completion::Option one;
  for (const auto& name : option.get_snames()) one.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) one.names.push_back("--" + name);
  one.help = summary(option.get_description());
  one.takes_value = option.get_items_expected_max() > 0;
  one.values = values_of(option);
  return one;
}

void describe(const CLI::App& app, const std::string& path, std::vector<Completion>& all) {
  Completion here{path, summary(app.get_description()), {}, {}};
  for (const auto* option : app.get_options())
    if (option->nonpositional())
      here.options.push_back(describe(*option));
    else
      here.words = values_of(*option);
  const auto commands =
      app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); });
  for (const auto* command : commands) here.words.push_back(command->get_name());
  all.push_back(here);
  for (const auto* command : commands) describe(*command, path + " " + command->get_name(), all);
}

}  // namespace

void add_completion(CLI::App& app, CommandLine& line) {
  auto* command = add_command(
      app, "completion", "Print a script that completes command lines.", "bash|zsh|fish",
      "  source <(holdfast completion bash)          # for ~/.bashrc\n"
      "  source <(holdfast completion zsh)           # for ~/.zshrc\n"
      "  holdfast completion fish > ~/.config/fish/completions/holdfast.fish\n");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->option_text("bash|zsh|fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""));
  command->callback([&line, &app, shell] {
    line.action = [&app, shell] {
      // From what the commands themselves have added, so that nothing is listed twice.
      std::vector<Completion> all;
      describe(app, "holdfast", all);
      print(*shell == "bash"  ? bash_completion(all)
            : *shell == "zsh" ? zsh_completion(all)
                              : fish_completion(all));
      return int{ok};
    };
  });
}

}  // namespace holdfast::cli
