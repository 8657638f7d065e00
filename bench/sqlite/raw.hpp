#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/sqlite/connection.hpp"

namespace holdfast::bench {

/// What one would write by hand to do the same work on a lock file: the driver's schema, pragmas
/// and statements, records of the same size, two transactions an acquire and release; but no
/// client, no queue, no codec, and nobody else.
class RawSqlite {
 public:
  RawSqlite(const std::string& path, sqlite::Sync sync);

  /// One transaction.
  void acquire(std::span<const std::string> names) { transaction(names, held_, true); }
  void release(std::span<const std::string> names) { transaction(names, idle_, false); }
  /// Both.
  void pair(const std::string& name) {
    acquire({&name, 1});
    release({&name, 1});
  }
  /// One transaction that writes each record anew.
  void renew(std::span<const std::string> names) { transaction(names, held_, false); }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  [[nodiscard]] Statement prepare(const char* sql);
  void run(const Statement& statement);
  void transaction(std::span<const std::string> names, std::string& record, bool next_token);

  std::unique_ptr<sqlite::Connection> connection_;
  sqlite3* database_;
  Statement begin_, commit_, get_, put_;
  std::string held_, idle_;  // records; the token is written into them
};

}  // namespace holdfast::bench
