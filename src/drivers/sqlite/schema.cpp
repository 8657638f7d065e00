#include "drivers/sqlite/schema.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "driver/record/codec.hpp"

namespace holdfast::sqlite {
namespace {

constexpr const char* tables[] = {
    "CREATE TABLE holdfast_meta (key TEXT NOT NULL PRIMARY KEY, value NOT NULL) WITHOUT ROWID",
    // name first, since it is the key; the record last, since it is the longest.
    "CREATE TABLE holdfast_resource (name TEXT NOT NULL PRIMARY KEY, token INTEGER NOT NULL, "
    "busy INTEGER NOT NULL, touched INTEGER NOT NULL, record BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE holdfast_cell (name TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL, "
    "watched INTEGER NOT NULL, touched INTEGER NOT NULL, record BLOB NOT NULL) WITHOUT ROWID"};

enum class Owner { nobody, us };

[[noreturn]] void refuse(const Database& database, const std::string& words) {
  throw Error(errc::misconfigured, "sqlite " + database.path() + ": " + words);
}

/// In a transaction, since a process that makes the tables does so between any two statements.
Owner owner(Database& database) {
  const std::int64_t id = database.integer("PRAGMA application_id");
  const std::int64_t format = database.integer("PRAGMA user_version");
  if (id == application_id) {
    if (format > format_version)
      refuse(database, "written by a newer Holdfast (format " + std::to_string(format) +
                           ", this build knows " + std::to_string(format_version) +
                           "); nothing was changed. Update this program");
    if (format < 1) refuse(database, "format " + std::to_string(format) + " does not exist");
    return Owner::us;
  }
  if (id != 0 || format != 0 || database.integer("SELECT count(*) FROM sqlite_schema") != 0)
    refuse(
        database,
        "this is a SQLite database of another program; nothing was changed. Locks need a file of "
        "their own, for instance locks.db beside it");
  return Owner::nobody;
}

/// Ends all that holders and waiters of another time have: their instants mean nothing now.
void end_everything(Database& database) {
  Statement busy(database, "SELECT name, record FROM holdfast_resource WHERE busy = 1 LIMIT 500");
  Statement put(database, "UPDATE holdfast_resource SET busy = 0, record = ?2 WHERE name = ?1");
  for (;;) {
    std::vector<std::pair<std::string, driver::Record>> records;
    while (busy.step())
      records.emplace_back(std::string(busy.bytes(0)), driver::decode_record(busy.bytes(1)).take());
    if (records.empty()) break;
    for (auto& [name, record] : records) {
      end_all(record);
      const std::string bytes = driver::encode(record);
      put.bind(1, name).bind_blob(2, bytes).run();
    }
  }

  Statement watched(database, "SELECT name, record FROM holdfast_cell WHERE watched = 1 LIMIT 100");
  Statement put_cell(database, "UPDATE holdfast_cell SET watched = 0, record = ?2 WHERE name = ?1");
  for (;;) {
    std::vector<std::pair<std::string, driver::CellRecord>> cells;
    while (watched.step())
      cells.emplace_back(std::string(watched.bytes(0)),
                         driver::decode_cell(watched.bytes(1)).take());
    if (cells.empty()) break;
    for (auto& [name, cell] : cells) {
      cell.watchers.clear();
      const std::string bytes = driver::encode(cell);
      put_cell.bind(1, name).bind_blob(2, bytes).run();
    }
  }
}

}  // namespace

Meta::Meta(Database& database)
    : get_(database, "SELECT value FROM holdfast_meta WHERE key = ?1"),
      put_(database, "REPLACE INTO holdfast_meta (key, value) VALUES (?1, ?2)") {}

std::string Meta::text(std::string_view key) {
  std::string value;
  if (get_.bind(1, key).step()) value = get_.bytes(0);
  get_.reset();
  return value;
}

std::uint64_t Meta::number(std::string_view key) {
  std::uint64_t value = 0;
  if (get_.bind(1, key).step()) value = get_.number(0);
  get_.reset();
  return value;
}

void Meta::set(std::string_view key, std::string_view value) {
  put_.bind(1, key).bind(2, value).run();
}

void Meta::set(std::string_view key, std::uint64_t value) {
  put_.bind(1, key).bind(2, value).run();
}

void end_all(driver::Record& record) noexcept {
  if (!record.holders.empty()) {
    record.last = record.holders.back().lease;
    record.ended = Predecessor::expired;
  }
  record.holders.clear();
  record.waiters.clear();
}

std::uint64_t starting_token(std::chrono::system_clock::time_point wall) noexcept {
  const auto since = std::chrono::duration_cast<std::chrono::microseconds>(wall.time_since_epoch());
  return static_cast<std::uint64_t>(std::max<std::int64_t>(since.count(), 1));
}

bool recognise(Database& database) {
  const Transaction reading(database, "BEGIN");
  return owner(database) == Owner::us;
}

void set_journal(Database& database, Sync sync) {
  database.checkpoint_on_close(true);
  if (const std::string mode = database.text("PRAGMA journal_mode = WAL"); mode != "wal")
    refuse(database, "the file system cannot carry SQLite's write-ahead log (journal mode stays '" +
                         mode + "'); choose a local disk");
  database.run(sync == Sync::full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  database.run(
      "PRAGMA journal_size_limit = 16777216");  // one burst must not keep the disk for ever
  database.run("PRAGMA cell_size_check = ON");  // notices more damage
  database.run("PRAGMA temp_store = MEMORY");
}

void make_tables(Database& database, std::chrono::system_clock::time_point wall) {
  if (recognise(database)) return;
  Transaction writing(database, "BEGIN IMMEDIATE");
  if (owner(database) == Owner::us) return;  // another process was faster
  for (const char* sql : tables) database.run(sql);
  Meta meta(database);
  meta.set(Meta::floor, starting_token(wall));
  database.run(("PRAGMA application_id = " + std::to_string(application_id)).c_str());
  database.run(("PRAGMA user_version = " + std::to_string(format_version)).c_str());
  writing.commit();
}

std::uint64_t settle(Database& database, const Machine& machine, const FileId& file, Sync sync,
                     std::chrono::system_clock::time_point wall,
                     const std::function<bool()>& alone) {
  Meta meta(database);
  const std::string home = std::to_string(file.inode);
  const auto settled = [&] {
    return meta.text(Meta::boot) == machine.boot &&
           meta.text(Meta::time_namespace) == machine.time_namespace &&
           meta.text(Meta::home) == home &&
           (sync == Sync::full || meta.text(Meta::sync) == "normal");
  };
  if (settled()) return meta.number(Meta::base);

  Transaction writing(database, "BEGIN IMMEDIATE");
  if (settled()) return meta.number(Meta::base);
  const bool fresh = meta.text(Meta::boot).empty();
  const bool rebooted = !fresh && meta.text(Meta::boot) != machine.boot;
  const bool copied = !fresh && meta.text(Meta::home) != home;
  if (!fresh && !rebooted && !copied && meta.text(Meta::time_namespace) != machine.time_namespace &&
      (!alone() ||
       database.integer("SELECT EXISTS (SELECT 1 FROM holdfast_resource WHERE busy = 1)")))
    refuse(
        database,
        "it is used by processes of another time namespace (unshare --time, some containers), "
        "whose boot clock differs, so that leases would end at the wrong time; run all users of a "
        "lock file in one time namespace");
  if (rebooted || copied) end_everything(database);
  // Without sync=full a power cut may have taken the last grants along, and a copy never saw those
  // that came after it.
  if (copied || (rebooted && meta.text(Meta::sync) == "normal")) {
    const std::uint64_t base = std::max(meta.number(Meta::floor), starting_token(wall));
    meta.set(Meta::floor, base);
    meta.set(Meta::base, base);
  }
  if (fresh || rebooted) meta.set(Meta::sync, std::string_view("full"));
  if (sync == Sync::normal) meta.set(Meta::sync, std::string_view("normal"));
  meta.set(Meta::boot, machine.boot);
  meta.set(Meta::time_namespace, machine.time_namespace);
  meta.set(Meta::home, home);
  const std::uint64_t base = meta.number(Meta::base);
  writing.commit();
  return base;
}

}  // namespace holdfast::sqlite
