#include <fmt/format.h>

#include "completion_words.hpp"

namespace holdfast::cli {

std::string fish_completion(const std::vector<Completion>& all) {
  std::string lines;
  for (const auto& command : all) {
    const auto at =
        fmt::format("complete -c holdfast -n \"__holdfast_at {}\"", in_quotes(command.path));
    for (const auto& word : command.words)
      lines += fmt::format("{} -a {} -d {}\n", at, word,
                           in_quotes(help_of(all, command.path + " " + word)));
    for (const auto& option : command.options) {
      lines += at;
      for (const auto& name : option.names)
        lines += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (option.takes_value) lines += fmt::format(" -x -a '{}'", fmt::join(option.values, " "));
      lines += " -d " + in_quotes(option.help) + "\n";
    }
  }
  return fmt::format(R"(# fish completion for holdfast; made by: holdfast completion fish
function __holdfast_at
  set -l path holdfast
  for word in (commandline -opc)[2..-1]
    test "$word" = --; and return 1
    switch "$path $word"
      case {}
        set path "$path $word"
    end
  end
  test "$path" = "$argv[1]"
end
function __holdfast_command  # what follows is another program's
  contains -- -- (commandline -opc)
end
complete -c holdfast -f
complete -c holdfast -F -n __holdfast_command -a '(__fish_complete_command)'
{})",
                     command_patterns(all, " "), lines);
}

}  // namespace holdfast::cli
