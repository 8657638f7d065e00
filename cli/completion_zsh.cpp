#include <fmt/format.h>

#include "completion_words.hpp"

namespace holdfast::cli {

std::string zsh_completion(const std::vector<Completion>& all) {
  std::string values, words;
  for_each_value(all, [&](const auto& pattern, const auto& known) {
    values +=
        fmt::format("    {}) {} ;;\n", pattern,
                    known.empty() ? "_message value; return"
                                  : fmt::format("compadd -- {}; return", fmt::join(known, " ")));
  });
  for (const auto& command : all) {
    words += fmt::format("    {})\n", in_quotes(command.path));
    for (const auto& word : command.words)
      words += fmt::format("      plain+=({})\n",
                           in_quotes(word + ":" + help_of(all, command.path + " " + word)));
    for (const auto& option : command.options)
      for (const auto& name : option.names)
        words += fmt::format("      dashed+=({})\n", in_quotes(name + ":" + option.help));
    words += "      ;;\n";
  }
  return fmt::format(R"(#compdef holdfast
# zsh completion for holdfast; made by: holdfast completion zsh
_holdfast() {{
  local where=holdfast
  local -a plain dashed
  local -i i
  for ((i = 2; i < CURRENT; i++)); do
    if [[ $words[i] == -- ]]; then  # what follows is another program's
      shift $i words
      ((CURRENT -= i))
      _normal
      return
    fi
    case "$where $words[i]" in
      ({}) where="$where $words[i]" ;;
    esac
  done
  case "$where $words[CURRENT-1]" in
{}  esac
  case $where in
{}  esac
  ((${{#plain}})) && _describe -t commands command plain
  [[ $words[CURRENT] == -* || ${{#plain}} -eq 0 ]] && _describe -o -t options option dashed
}}
compdef _holdfast holdfast
)",
                     command_patterns(all, "|"), values, words);
}

}  // namespace holdfast::cli
