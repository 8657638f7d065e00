#pragma once

#include <cstdint>
#include <memory>

namespace holdfast {

/// Rises by one in each child of fork(2). Who remembers the value of its birth can tell whether it
/// has woken up in a child, where its threads do not exist and its leases are not its own.
/// Thread-safe, one load.
[[nodiscard]] std::uint32_t fork_generation() noexcept;

/// Never destroys it: for what a child of fork(2) inherits and must not touch, since locks may be
/// held by threads that it does not have. Thread-safe.
void keep_for_ever(std::shared_ptr<void> thing);

}  // namespace holdfast
