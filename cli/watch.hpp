#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <holdfast/resource.hpp>

#include "json.hpp"

namespace holdfast::cli {

/// One line of `holdfast watch`.
struct Change {
  enum class Kind { free, held, granted, released, expired, waiters, trouble };
  Kind kind;
  HolderInfo holder{};      ///< held, granted, released, expired
  std::size_t waiters = 0;  ///< waiting now
  std::string words{};      ///< trouble
};

/// How a resource is at the first look.
[[nodiscard]] std::vector<Change> first_look(const ResourceInfo& now);

/// What happened between two looks. Tenures that began and ended between them are not seen; a
/// holder that is gone before its lease ran out has released, or was revoked.
[[nodiscard]] std::vector<Change> changes(const ResourceInfo& before, const ResourceInfo& now,
                                          std::chrono::nanoseconds between);

[[nodiscard]] std::string words_of(const Change& change);
[[nodiscard]] Json to_json(const Change& change);

}  // namespace holdfast::cli
