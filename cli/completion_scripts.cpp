#include <fmt/format.h>

#include "completion.hpp"

namespace holdfast::cli {
namespace {

std::string in_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text)
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  return quoted + "'";
}

/// `'holdfast run'|'holdfast ls'`: all commands, as patterns of a case.
std::string command_patterns(const std::vector<Completion>& all, std::string_view separator) {
  std::string patterns;
  for (const auto& command : all)
    if (command.path.find(' ') != std::string::npos)
      patterns += (patterns.empty() ? "" : std::string(separator)) + in_quotes(command.path);
  return patterns;
}

/// Calls back for each option that takes a value, under each of its names.
template <class Function>
void for_each_value(const std::vector<Completion>& all, Function function) {
  for (const auto& command : all)
    for (const auto& option : command.options)
      if (option.takes_value)
        for (const auto& name : option.names)
          function(in_quotes(command.path + " " + name), option.values);
}

std::string help_of(const std::vector<Completion>& all, const std::string& path) {
  for (const auto& command : all)
    if (command.path == path) return command.help;
  return {};
}

}  // namespace

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
