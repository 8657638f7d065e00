#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "json.hpp"
#include "run/command_process.hpp"

namespace holdfast::cli {

std::vector<std::string> command_environment(const Lease& lease,
                                             const std::vector<std::string>& names,
                                             std::chrono::milliseconds ttl) {
  Json tokens = Json::object();
  for (const auto& name : names) tokens[name] = lease.token(name);
  const std::vector<std::string> ours{
      fmt::format("HOLDFAST_NAME={}", names.front()),
      fmt::format("HOLDFAST_TOKEN={}", lease.token(names.front())),
      // JSON, because a name may hold any character that a separator could be.
      fmt::format("HOLDFAST_NAMES={}", Json(names).dump()),
      fmt::format("HOLDFAST_TOKENS={}", tokens.dump()),
      fmt::format("HOLDFAST_OWNER={}", lease.owner()),
      fmt::format("HOLDFAST_TTL_MS={}", ttl.count()),
  };
  // HOLDFAST_STORE is passed on as we found it. A URL from the command line is not added: it may
  // hold a password, and an environment is inherited by every process that the command starts.
  std::vector<std::string> all;
  for (char** variable = environ; variable && *variable; ++variable) {
    const std::string_view text = *variable;
    const auto same_name = [&](const std::string& other) {
      return text.substr(0, text.find('=')) == other.substr(0, other.find('='));
    };
    if (std::none_of(ours.begin(), ours.end(), same_name)) all.emplace_back(text);
  }
  all.insert(all.end(), ours.begin(), ours.end());
  return all;
}

}  // namespace holdfast::cli
