#pragma once

#include "run/options.hpp"

namespace holdfast::cli {

/// Takes the lease, runs the command under it, and returns the exit code.
[[nodiscard]] int run(const RunOptions& options);

}  // namespace holdfast::cli
