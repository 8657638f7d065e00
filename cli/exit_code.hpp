#pragma once

#include <system_error>

namespace holdfast::cli {

/// What scripts may rely on; docs/man/holdfast.1 lists them. The numbers follow sysexits(3).
enum ExitCode : int {
  ok = 0,
  failed = 1,        ///< ran, and the answer is no: nothing revoked, the demo oversold
  usage = 64,        ///< the command line makes no sense
  unavailable = 69,  ///< the store cannot be reached, refuses, or is set up wrongly
  internal = 70,     ///< a bug of ours, or the system is out of something
  busy = 75,         ///< held by others until the wait was over
  lost = 76,         ///< the lease ended before the command did
  not_executable = 126,
  not_found = 127,
};

/// The exit code of an error of the library.
[[nodiscard]] ExitCode exit_code(const std::error_code& error) noexcept;

}  // namespace holdfast::cli
