#include "drivers/sqlite/database.hpp"

#include <cerrno>
#include <system_error>

namespace holdfast::sqlite {
namespace {

bool is_denial(int system) { return system == EACCES || system == EPERM || system == EROFS; }

Failure sorted(int code, int system) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return {errc::unavailable,
              "another process is writing and does not finish; look for one that hangs or is "
              "stopped (fuser shows who has the file open)"};
    case SQLITE_FULL:
      return {errc::unavailable, "the disk is full; nothing was changed. Free some space"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {errc::misconfigured,
              "this is not a database that SQLite can read, or it is damaged; nothing was changed. "
              "With all its users stopped, move it away (a new one starts with higher tokens) or "
              "restore it"};
    case SQLITE_READONLY:
      if (code == SQLITE_READONLY_DBMOVED)
        return {errc::unavailable, "the lock file was deleted or replaced while in use"};
      return {errc::denied,
              "the file, its -wal or -shm file, or the file system is read-only for this user; "
              "all of them and the directory must be writable"};
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {errc::denied, "permission denied"};
    case SQLITE_CANTOPEN:
      if (system == EMFILE || system == ENFILE)
        return {errc::unavailable, "too many open files; raise the limit (ulimit -n)"};
      return {errc::denied,
              "the file, or its -wal or -shm file beside it, cannot be opened; all of them and the "
              "directory must be readable and writable for this user"};
    case SQLITE_IOERR:
      if (system == ENOSPC || system == EDQUOT)
        return {errc::unavailable, "the disk is full; free some space"};
      if (is_denial(system)) return {errc::denied, "the operating system refused it"};
      return {errc::unavailable, "the disk or the file system fails; see the system's log"};
    case SQLITE_NOMEM:
      return {errc::unavailable, "out of memory"};
    case SQLITE_ERROR:
    case SQLITE_SCHEMA:
      return {errc::misconfigured, "the tables are not as Holdfast made them"};
    default:
      return {errc::unavailable, "SQLite failed"};
  }
}

}  // namespace

Failure explain(int code, int system, const std::string& path, std::string_view doing) {
  Failure failure = sorted(code, system);
  std::string words = "sqlite " + path + ": cannot " + std::string(doing) + ": " + failure.words;
  words += " (" + std::string(sqlite3_errstr(code)) + ", code " + std::to_string(code);
  if (system != 0)
    words += ", errno " + std::to_string(system) + ": " + std::generic_category().message(system);
  failure.words = words + ")";
  return failure;
}

Statement::Statement(Database& database, const char* sql) : database_(&database) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(database.handle(), sql, -1, SQLITE_PREPARE_PERSISTENT,
                                      &statement, nullptr);
  handle_.reset(statement);
  if (code != SQLITE_OK) database.raise(code, "prepare '" + std::string(sql) + "'");
}

// A failed bind leaves NULL behind; only running out of memory can cause it, and NOT NULL
// constraints then refuse the row.
Statement& Statement::bind(int at, std::int64_t value) noexcept {
  sqlite3_bind_int64(handle_.get(), at, value);
  return *this;
}

Statement& Statement::bind(int at, std::string_view text) noexcept {
  sqlite3_bind_text64(handle_.get(), at, text.data() ? text.data() : "", text.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_blob(int at, std::string_view bytes) noexcept {
  sqlite3_bind_blob64(handle_.get(), at, bytes.data() ? bytes.data() : "", bytes.size(),
                      SQLITE_STATIC);
  return *this;
}

int Statement::try_step() noexcept {
  const int code = sqlite3_step(handle_.get());
  if (code != SQLITE_ROW) sqlite3_reset(handle_.get());
  return code;
}

bool Statement::step() {
  const int code = try_step();
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  database_->raise(code, "run '" + std::string(sqlite3_sql(handle_.get())) + "'");
}

std::int64_t Statement::integer(int column) noexcept {
  return sqlite3_column_int64(handle_.get(), column);
}

std::string_view Statement::bytes(int column) noexcept {
  const void* data = sqlite3_column_blob(handle_.get(), column);
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return data ? std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(size))
              : std::string_view();
}

void Database::open(const std::string& path) {
  path_ = path;
  sqlite3* database = nullptr;
  // One thread at a time drives the client's loop, hence NOMUTEX. Symbolic links on the way are
  // fine (/var/run is one), since SQLite resolves them before it names the companions.
  const int code =
      sqlite3_open_v2(path.c_str(), &database,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  handle_.reset(database);
  if (code != SQLITE_OK) raise(code, "open the file");
  if (const char* name = sqlite3_db_filename(database, "main"); name && *name) path_ = name;
  sqlite3_busy_timeout(database, 0);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  checkpoint_on_close(false);
}

std::string Database::text(const char* sql) {
  Statement statement(*this, sql);
  return statement.step() ? std::string(statement.bytes(0)) : std::string();
}

std::int64_t Database::integer(const char* sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

bool Database::in_transaction() const noexcept { return !sqlite3_get_autocommit(handle_.get()); }

void Database::rollback() noexcept {
  if (in_transaction()) sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

bool Database::read_only() const noexcept {
  return sqlite3_db_readonly(handle_.get(), "main") != 0;
}

void Database::checkpoint_on_close(bool on) noexcept {
  if (!handle_) return;
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, on ? 0 : 1, nullptr);
}

bool Database::moved() const noexcept {
  int moved = 0;
  sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return moved != 0;
}

Failure Database::failure(int code, std::string_view doing) const {
  const int system = handle_ ? sqlite3_system_errno(handle_.get()) : 0;
  // The errno of an earlier call stays behind; it belongs to input and output alone.
  const int kind = code & 0xff;
  const bool about_files = kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN || kind == SQLITE_FULL ||
                           kind == SQLITE_READONLY || kind == SQLITE_PERM;
  return explain(code, about_files ? system : 0, path_, doing);
}

void Database::raise(int code, std::string_view doing) const {
  const Failure what = failure(code, doing);
  if (is_busy(code)) throw Busy(what.code, what.words);
  what.raise();
}

}  // namespace holdfast::sqlite
