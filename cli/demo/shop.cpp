#include "demo/shop.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <initializer_list>

#include "message.hpp"

namespace holdfast::cli {
namespace {

[[noreturn]] void complain(sqlite3* database) {
  throw Complaint(internal, "demo: shop database", sqlite3_errmsg(database),
                  "Is there room in the directory for temporary files (TMPDIR)?");
}

/// One statement from its preparation to its end. Returns the first column of its first row, or 0.
std::int64_t execute(sqlite3* database, const char* sql,
                     std::initializer_list<std::int64_t> values = {}) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(database, sql, -1, &raw, nullptr) != SQLITE_OK) complain(database);
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, sqlite3_finalize);
  int position = 0;
  for (const auto value : values) sqlite3_bind_int64(raw, ++position, value);
  const int result = sqlite3_step(raw);
  if (result == SQLITE_ROW) return sqlite3_column_int64(raw, 0);
  if (result != SQLITE_DONE) complain(database);
  return 0;
}

std::int64_t signed_token(std::uint64_t token) { return static_cast<std::int64_t>(token); }

}  // namespace

void Shop::Close::operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }

void Shop::create(const std::string& path, std::int64_t items) {
  const Shop shop(path);
  auto* database = shop.database_.get();
  execute(database, "PRAGMA journal_mode = WAL");
  execute(database, "CREATE TABLE item (id INTEGER PRIMARY KEY, stock INTEGER, fence INTEGER)");
  execute(
      database,
      "CREATE TABLE orders (id INTEGER PRIMARY KEY, item INTEGER, buyer INTEGER, token INTEGER)");
  execute(database, "CREATE TABLE tally (rejected_writes INTEGER)");
  execute(database, "INSERT INTO item VALUES (1, ?, 0)", {items});
  execute(database, "INSERT INTO tally VALUES (0)");
}

Shop::Shop(const std::string& path) {
  sqlite3* raw = nullptr;
  const int result = sqlite3_open(path.c_str(), &raw);
  database_.reset(raw);
  if (result != SQLITE_OK) complain(raw);
  sqlite3_busy_timeout(raw, 20'000);
  execute(raw, "PRAGMA synchronous = OFF");  // it does not outlive the demo
}

std::int64_t Shop::stock() {
  return execute(database_.get(), "SELECT stock FROM item WHERE id = 1");
}

bool Shop::raise_fence(std::uint64_t token) {
  execute(database_.get(), "UPDATE item SET fence = ?1 WHERE id = 1 AND fence <= ?1",
          {signed_token(token)});
  return sqlite3_changes(database_.get()) == 1;
}

bool Shop::sell(std::int64_t new_stock, unsigned buyer, std::optional<std::uint64_t> token) {
  auto* database = database_.get();
  execute(database, "BEGIN IMMEDIATE");
  if (token)
    execute(database, "UPDATE item SET stock = ? WHERE id = 1 AND fence = ?",
            {new_stock, signed_token(*token)});
  else
    execute(database, "UPDATE item SET stock = ? WHERE id = 1", {new_stock});
  const bool written = sqlite3_changes(database) == 1;
  if (written)
    execute(database, "INSERT INTO orders (item, buyer, token) VALUES (1, ?, ?)",
            {buyer, signed_token(token.value_or(0))});
  execute(database, written ? "COMMIT" : "ROLLBACK");
  return written;
}

void Shop::count_rejected_write() {
  execute(database_.get(), "UPDATE tally SET rejected_writes = rejected_writes + 1");
}

Shop::Totals Shop::totals() {
  return {execute(database_.get(), "SELECT count(*) FROM orders"), stock(),
          execute(database_.get(), "SELECT rejected_writes FROM tally")};
}

}  // namespace holdfast::cli
