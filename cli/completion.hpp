#pragma once

#include <string>
#include <vector>

namespace holdfast::cli {

/// What a shell has to know of one command.
struct Completion {
  struct Option {
    std::vector<std::string> names;  ///< "-q", "--quiet"
    std::string help;
    bool takes_value = false;
    std::vector<std::string> values;  ///< that it may take, if they are known
  };
  std::string path;  ///< "holdfast demo sale"
  std::string help;
  std::vector<Option> options;
  std::vector<std::string> words;  ///< commands below it, or what its argument may be
};

[[nodiscard]] std::string bash_completion(const std::vector<Completion>& all);
[[nodiscard]] std::string zsh_completion(const std::vector<Completion>& all);
[[nodiscard]] std::string fish_completion(const std::vector<Completion>& all);

}  // namespace holdfast::cli
