#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "completion.hpp"

namespace holdfast::cli {

/// What the scripts of all shells are made of.

[[nodiscard]] std::string in_quotes(std::string_view text);

/// `'holdfast run'|'holdfast ls'`: all commands, as patterns of a case.
[[nodiscard]] std::string command_patterns(const std::vector<Completion>& all,
                                           std::string_view separator);

[[nodiscard]] std::string help_of(const std::vector<Completion>& all, const std::string& path);

/// Calls back for each option that takes a value, under each of its names.
template <class Function>
void for_each_value(const std::vector<Completion>& all, Function function) {
  for (const auto& command : all)
    for (const auto& option : command.options)
      if (option.takes_value)
        for (const auto& name : option.names)
          function(in_quotes(command.path + " " + name), option.values);
}

}  // namespace holdfast::cli
