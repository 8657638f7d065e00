#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace holdfast {

/// The checking side of fencing tokens, for a resource that lives in this process: remembers the
/// highest token that it has seen and refuses older ones. Use one a resource. Thread-safe.
///
/// A read followed by a write needs the fence *before the read* too: otherwise an old holder's late
/// write can fall between the new holder's read and write (docs/fencing.md).
class Fence {
 public:
  /// Admits `token` and remembers it, or returns false when a newer one has been here.
  [[nodiscard]] bool admit(std::uint64_t token) noexcept {
    std::uint64_t seen = highest_.load(std::memory_order_acquire);
    while (seen <= token)
      if (highest_.compare_exchange_weak(seen, token, std::memory_order_acq_rel)) return true;
    return false;
  }
  [[nodiscard]] std::uint64_t highest() const noexcept {
    return highest_.load(std::memory_order_acquire);
  }

 private:
  std::atomic<std::uint64_t> highest_{0};
};

/// The same in SQL, in SQLite's dialect (docs/fencing.md has others): a table that remembers the
/// highest token a resource has seen. Run `admit` in the transaction that does the guarded work; if
/// it changes no row, a newer holder has been here: roll back.
namespace fence_sql {
inline constexpr std::string_view create_table =
    "CREATE TABLE IF NOT EXISTS holdfast_fence (resource TEXT PRIMARY KEY, token BIGINT NOT NULL)";
/// Parameters: resource name, token.
inline constexpr std::string_view admit =
    "INSERT INTO holdfast_fence (resource, token) VALUES (?1, ?2) "
    "ON CONFLICT (resource) DO UPDATE SET token = excluded.token WHERE excluded.token >= "
    "holdfast_fence.token";
}  // namespace fence_sql

}  // namespace holdfast
