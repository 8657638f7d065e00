#pragma once

#include <cstdint>

namespace holdfast {

/// Rises by one in each child of fork(2). Who remembers the value of its birth can tell whether it
/// has woken up in a child, where its threads do not exist and its leases are not its own.
/// Thread-safe, one load.
[[nodiscard]] std::uint32_t fork_generation() noexcept;

}  // namespace holdfast
