#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/clock.hpp"
#include "drivers/sqlite/database.hpp"
#include "drivers/sqlite/schema.hpp"

namespace holdfast::sqlite {

/// Keeps the file small: drops records that nobody has touched for an hour, and the oldest ones
/// when there are more than 10,000 idle ones, after raising the floor that new records start above.
/// A bounded amount of work now and then, inside a write transaction that happens anyway.
class Retention {
 public:
  static constexpr std::int64_t keep_s = 3600;
  static constexpr std::size_t keep_idle = 10'000;
  static constexpr std::size_t max_dropped = 1000;  ///< at a time
  static constexpr std::size_t max_added = 1000;  ///< new records of this client between two looks

  explicit Retention(Database& database);

  void added(std::size_t records) noexcept { added_ += records; }
  [[nodiscard]] bool due(Instant now) const noexcept { return now >= next_ || added_ >= max_added; }
  /// In a write transaction. Throws Error.
  void run(Meta& meta, Instant now, std::int64_t unix_now);

 private:
  void end_forgotten(Instant now, std::int64_t unix_now);

  Statement count_idle_, oldest_idle_, drop_, stale_busy_, put_;
  Instant next_{};
  std::size_t added_ = 0;
  std::string hand_;  ///< where end_forgotten() goes on
};

}  // namespace holdfast::sqlite
