#pragma once

/// Small questions about one record, shared by the files of LockModel.

#include <cstdint>
#include <optional>
#include <string>

#include "driver/record/record.hpp"

namespace holdfast::driver::rules {

inline constexpr std::size_t npos = static_cast<std::size_t>(-1);
inline constexpr std::uint64_t no_ticket = static_cast<std::uint64_t>(-1);  ///< after all others

[[nodiscard]] std::size_t find_holder(const Record& record, const Id& lease) noexcept;
[[nodiscard]] std::size_t find_waiter(const Record& record, const Id& lease) noexcept;

/// The mode of a lease that is there.
[[nodiscard]] const Mode& mode_of(const Id& lease, const Record& record) noexcept;

/// Whether a request fits beside the holders.
[[nodiscard]] bool fits(const Record& record, const Mode& mode) noexcept;

/// The limit that holders and waiters have agreed on, if it is not the one of `mode`.
[[nodiscard]] std::optional<std::uint32_t> other_limit(const Record& record, const Mode& mode,
                                                       Instant now) noexcept;

/// Whether anyone waits, as far as heartbeats tell.
[[nodiscard]] bool contended(const Record& record, Instant now) noexcept;

}  // namespace holdfast::driver::rules
