#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include <holdfast/lease.hpp>

namespace holdfast::cli {

/// What the command is started with.
struct CommandPlan {
  std::vector<std::string> command;      ///< program and arguments
  std::vector<std::string> environment;  ///< "NAME=value"
  pid_t group = 0;                       ///< the process group that it joins
  int terminal = -1;                     ///< its group gets this terminal first; -1: none
  sigset_t signal_mask{};
  bool ignore_children = false;  ///< SIGCHLD is ignored, as our caller had it
};

/// Starts the command, which is killed when the calling thread dies. Throws Complaint (not_found,
/// not_executable) if it cannot be executed.
[[nodiscard]] pid_t start_command(const CommandPlan& plan);

/// Our environment and what the command may want to know of its lease (docs/man/holdfast.1,
/// ENVIRONMENT).
[[nodiscard]] std::vector<std::string> command_environment(const Lease& lease,
                                                           const std::vector<std::string>& names,
                                                           std::chrono::milliseconds ttl);

}  // namespace holdfast::cli
