#pragma once

#include <chrono>
#include <string>

#include <holdfast/resource.hpp>

namespace holdfast::cli {

/// A length of time as people read it, to two places: `250ms`, `4.2s`, `3m12s`, `5h03m`, `3d04h`.
[[nodiscard]] std::string human(std::chrono::nanoseconds length);

/// How long ago that was, by the time of day; never negative.
[[nodiscard]] std::string since(std::chrono::system_clock::time_point then);

/// `2026-01-31T12:00:00.000Z`.
[[nodiscard]] std::string iso_time(std::chrono::system_clock::time_point time);

/// `exclusive`, `shared`, or `2 of 5 permits`.
[[nodiscard]] std::string mode_words(const Mode& mode);

/// Who that is. Owners that nobody named are 32 random digits and tell people nothing: then the
/// process alone, "host:pid".
[[nodiscard]] std::string who(const std::string& owner, const std::string& client);

/// `held by host:123 for 3m12s (nightly backup)`; the first holder stands for all.
[[nodiscard]] std::string holder_words(const ResourceInfo& resource);

}  // namespace holdfast::cli
