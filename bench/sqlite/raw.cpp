#include "sqlite/raw.hpp"

#include <unistd.h>

#include <chrono>
#include <cstring>
#include <ctime>
#include <stdexcept>

#include "driver/record/codec.hpp"

namespace holdfast::bench {

namespace {

/// Where encode() puts the highest token: behind the version byte, lowest byte first.
constexpr std::size_t token_at = 1;

std::unique_ptr<sqlite::Connection> open(const std::string& path, sqlite::Sync sync) {
  sqlite::Settings settings;
  settings.path = path;
  settings.sync = sync;
  settings.client = Id::random();
  sqlite::Bells::mark_deaf(settings.client, false);
  settings.machine = sqlite::Machine::here();
  return sqlite::connect(settings, Clock::system());
}

driver::Record record(bool held) {
  driver::Record record;
  record.last = Id::random();
  record.ended = Predecessor::released;
  if (!held) return record;
  driver::Holder holder;
  holder.lease = Id::random();
  holder.client = Id::random();
  holder.owner = holder.lease.hex();
  std::string host(256, '\0');
  static_cast<void>(::gethostname(host.data(), host.size() - 1));
  holder.label = std::string(host.c_str()) + ":" + std::to_string(::getpid());
  holder.ttl = std::chrono::seconds(30);
  holder.since = std::chrono::system_clock::now();
  holder.expires = boot_clock::now() + holder.ttl;
  record.holders.push_back(std::move(holder));
  return record;
}

}  // namespace

RawSqlite::RawSqlite(const std::string& path, sqlite::Sync sync)
    : connection_(open(path, sync)), database_(connection_->database.handle()) {
  begin_ = prepare("BEGIN IMMEDIATE");
  commit_ = prepare("COMMIT");
  get_ = prepare("SELECT record FROM holdfast_resource WHERE name = ?1");
  put_ = prepare(
      "INSERT INTO holdfast_resource (name, token, busy, touched, record) "
      "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (name) DO UPDATE SET token = excluded.token, "
      "busy = excluded.busy, touched = excluded.touched, record = excluded.record");
  held_ = driver::encode(record(true));
  idle_ = driver::encode(record(false));
}

RawSqlite::Statement RawSqlite::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(database_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) !=
      SQLITE_OK)
    throw std::runtime_error(std::string("raw SQLite: ") + sqlite3_errmsg(database_));
  return Statement(statement);
}

void RawSqlite::run(const Statement& statement) {
  const int code = sqlite3_step(statement.get());
  sqlite3_reset(statement.get());
  if (code != SQLITE_DONE)
    throw std::runtime_error(std::string("raw SQLite: ") + sqlite3_errmsg(database_));
}

void RawSqlite::transaction(std::span<const std::string> names, std::string& record,
                            bool next_token) {
  run(begin_);
  for (const std::string& name : names) {
    std::uint64_t token = 0;
    const int length = static_cast<int>(name.size());
    sqlite3_bind_text(get_.get(), 1, name.data(), length, SQLITE_STATIC);
    if (sqlite3_step(get_.get()) == SQLITE_ROW) {
      const auto* old = static_cast<const char*>(sqlite3_column_blob(get_.get(), 0));
      std::memcpy(&token, old + token_at, sizeof token);
    }
    sqlite3_reset(get_.get());
    if (next_token) ++token;

    std::memcpy(record.data() + token_at, &token, sizeof token);
    sqlite3_bind_text(put_.get(), 1, name.data(), length, SQLITE_STATIC);
    sqlite3_bind_int64(put_.get(), 2, static_cast<std::int64_t>(token));
    sqlite3_bind_int(put_.get(), 3, &record == &held_ ? 1 : 0);
    sqlite3_bind_int64(put_.get(), 4, std::time(nullptr));
    sqlite3_bind_blob(put_.get(), 5, record.data(), static_cast<int>(record.size()), SQLITE_STATIC);
    run(put_);
  }
  run(commit_);
}

}  // namespace holdfast::bench
