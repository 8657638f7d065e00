#pragma once

#include <holdfast/client.hpp>

#include "run/options.hpp"
#include "run/signals.hpp"

namespace holdfast::cli {

/// Waits for the lease; a signal ends the wait. Throws Complaint (busy), Error, or Interrupted.
[[nodiscard]] Lease wait_for_lease(const Client& client, const RunOptions& options,
                                   Signals& signals);

/// `'a'` or `'a', 'b' and 2 more`.
[[nodiscard]] std::string shown(const std::vector<std::string>& names);

}  // namespace holdfast::cli
