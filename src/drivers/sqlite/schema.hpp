#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "driver/record/record.hpp"
#include "drivers/sqlite/database.hpp"
#include "drivers/sqlite/filesystem.hpp"
#include "drivers/sqlite/machine.hpp"

namespace holdfast::sqlite {

enum class Sync { full, normal };

/// What the lock file says of itself. Not one of the two transactions of an uncontended lease
/// touches it.
class Meta {
 public:
  explicit Meta(Database& database);

  // Keys:
  static constexpr const char* boot = "boot";  ///< Machine::boot that its instants belong to
  static constexpr const char* time_namespace = "time_namespace";
  static constexpr const char* home = "home";      ///< inode: another one means that this is a copy
  static constexpr const char* sync = "sync";      ///< the weakest since that boot
  static constexpr const char* floor = "floor";    ///< new records start above it
  static constexpr const char* base = "base";      ///< old records count as having reached it
  static constexpr const char* ticket = "ticket";  ///< the last one given out
  static constexpr const char* purged = "purged";  ///< when idle records were dropped last (unix s)

  [[nodiscard]] std::string text(std::string_view key);
  [[nodiscard]] std::uint64_t number(std::string_view key);  ///< 0 if absent
  void set(std::string_view key, std::string_view value);
  void set(std::string_view key, std::uint64_t value);

 private:
  Statement get_, put_;
};

inline constexpr std::int64_t application_id = 0x486f4661;  // "HoFa"
inline constexpr std::int64_t format_version = 1;

/// True for a lock file of ours, false for an empty file; refuses (misconfigured), and leaves
/// alone, whatever belongs to somebody else. Throws Busy, Error.
bool recognise(Database& database);

/// Write-ahead log and durability. Throws Busy, Error.
void set_journal(Database& database, Sync sync);

/// In an empty file, whose tokens then start at `wall`. Throws Busy, Error.
void make_tables(Database& database, std::chrono::system_clock::time_point wall);

/// Makes the instants in the file ours. After another boot all holders and waiters are void, and a
/// copy of a lock file knows nothing of its original's tokens, so it starts above them. Returns
/// Meta::base. `alone`: no other client uses the file. Throws Busy, Error (misconfigured: written
/// under another time namespace).
[[nodiscard]] std::uint64_t settle(Database& database, const Machine& machine, const FileId& file,
                                   Sync sync, std::chrono::system_clock::time_point wall,
                                   const std::function<bool()>& alone);

/// Ends all holders, as expired, and all waiters of a record.
void end_all(driver::Record& record) noexcept;

/// Microseconds of the day's clock: what tokens start at, so that a lost file's are overtaken.
[[nodiscard]] std::uint64_t starting_token(std::chrono::system_clock::time_point wall) noexcept;

}  // namespace holdfast::sqlite
