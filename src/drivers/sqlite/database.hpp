#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace holdfast::sqlite {

/// Somebody else has locked the file at this moment: worth another try.
class Busy : public Error {
 public:
  using Error::Error;
};

/// What an error code of SQLite means to a user: which code, which words, what to do. `system` is
/// the errno behind it, 0 if there is none.
[[nodiscard]] Failure explain(int code, int system, const std::string& path,
                              std::string_view doing);

/// Somebody else is at it: SQLITE_BUSY and SQLITE_LOCKED in all their forms, and SQLITE_PROTOCOL,
/// which is a lost race for the write-ahead log's index.
[[nodiscard]] constexpr bool is_busy(int code) noexcept {
  const int kind = code & 0xff;
  return kind == SQLITE_BUSY || kind == SQLITE_LOCKED || kind == SQLITE_PROTOCOL;
}

class Database;

/// A prepared statement. Texts and blobs that are bound must live until reset().
class Statement {
 public:
  Statement() noexcept = default;
  Statement(Database& database, const char* sql);  ///< throws Error

  Statement& bind(int at, std::int64_t value) noexcept;
  Statement& bind(int at, std::uint64_t value) noexcept {
    return bind(at, static_cast<std::int64_t>(value));
  }
  Statement& bind(int at, std::string_view text) noexcept;
  Statement& bind_blob(int at, std::string_view bytes) noexcept;

  /// SQLITE_ROW, SQLITE_DONE or an error; does not throw. Resets itself unless there is a row.
  [[nodiscard]] int try_step() noexcept;
  /// True if there is a row. Throws Busy or Error.
  bool step();
  /// One step of a statement that returns no rows. Throws Busy or Error.
  void run() { static_cast<void>(step()), reset(); }
  void reset() noexcept { sqlite3_reset(handle_.get()); }

  // Of the current row; views are valid until the next step or reset.
  [[nodiscard]] std::int64_t integer(int column) noexcept;
  [[nodiscard]] std::uint64_t number(int column) noexcept {
    return static_cast<std::uint64_t>(integer(column));
  }
  [[nodiscard]] std::string_view bytes(int column) noexcept;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  Database* database_ = nullptr;
};

/// A connection to a database file. Never waits: what is locked is Busy.
class Database {
 public:
  Database() noexcept = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Opens a file that exists, by its plain path (no URI). Throws Error.
  void open(const std::string& path);
  /// Idempotent. Statements must be gone.
  void close() noexcept { handle_.reset(); }

  /// Runs a statement that needs no parameters and whose rows are of no interest. Throws Busy,
  /// Error.
  void run(const char* sql) { Statement(*this, sql).run(); }
  /// The first column of the first row, as text; empty if there is none. Throws Busy, Error.
  [[nodiscard]] std::string text(const char* sql);
  [[nodiscard]] std::int64_t integer(const char* sql);

  [[nodiscard]] bool in_transaction() const noexcept;
  /// Idempotent.
  void rollback() noexcept;
  [[nodiscard]] bool read_only() const noexcept;
  /// While false (at first), closing leaves the write-ahead log of a foreign database alone.
  void checkpoint_on_close(bool on) noexcept;
  /// True if the path does not lead to the open file any more.
  [[nodiscard]] bool moved() const noexcept;

  /// Absolute and without symbolic links: also what the names of its companions start with.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] sqlite3* handle() const noexcept { return handle_.get(); }
  [[nodiscard]] Failure failure(int code, std::string_view doing) const;
  [[noreturn]] void raise(int code, std::string_view doing) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
  std::string path_;
};

/// A transaction that is rolled back unless commit() is called. For setting up, where exceptions
/// are welcome; throws Busy, Error.
class Transaction {
 public:
  Transaction(Database& database, const char* begin) : database_(database) { database_.run(begin); }
  ~Transaction() { database_.rollback(); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() { database_.run("COMMIT"); }

 private:
  Database& database_;
};

}  // namespace holdfast::sqlite
