#include <fmt/format.h>

#include "completion_words.hpp"

namespace holdfast::cli {

std::string bash_completion(const std::vector<Completion>& all) {
  std::string values, words;
  for_each_value(all, [&](const auto& pattern, const auto& known) {
    values += fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n",
                          pattern, fmt::join(known, " "));
  });
  for (const auto& command : all) {
    std::string here = fmt::format("{}", fmt::join(command.words, " "));
    for (const auto& option : command.options)
      here += fmt::format(" {}", fmt::join(option.names, " "));
    words += fmt::format("    {}) words={} ;;\n", in_quotes(command.path), in_quotes(here));
  }
  return fmt::format(R"(# bash completion for holdfast; made by: holdfast completion bash
_holdfast() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} path=holdfast words='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${{COMP_WORDS[i]}} == -- ]]; then  # what follows is another program's
      if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
      elif ((COMP_CWORD == i + 1)); then
        COMPREPLY=($(compgen -c -- "$cur"))
      else
        COMPREPLY=($(compgen -f -- "$cur"))
      fi
      return
    fi
    case "$path ${{COMP_WORDS[i]}}" in
      {}) path="$path ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$path ${{COMP_WORDS[COMP_CWORD - 1]}}" in
{}  esac
  case $path in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -F _holdfast holdfast
)",
                     command_patterns(all, "|"), values, words);
}

}  // namespace holdfast::cli
