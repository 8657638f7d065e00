#include "drivers/sqlite/store.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/name.hpp"
#include "driver/record/codec.hpp"

namespace holdfast::sqlite {

using driver::CellRecord;
using driver::Hint;
using driver::Record;

Store::Store(Settings settings, const Clock& clock, Hooks hooks)
    : settings_(std::move(settings)), clock_(clock), hooks_(std::move(hooks)) {
  adopt(connect(settings_, clock_));
}

Store::~Store() {
  watched_.reset();
  rollback();
}

void Store::adopt(std::unique_ptr<Connection> connection) {
  connection_ = std::move(connection);
  replaced_ = false;
  next_check_ = clock_.now() + std::chrono::seconds(1);
  if (!connection_->deaf_because.empty() && hooks_.log)
    hooks_.log(LogLevel::warning, "no_bell",
               connection_->deaf_because +
                   "; other processes cannot wake this one, which looks for itself every 2 s");
  watch_bell();
}

void Store::watch_bell() {
  watched_.reset();
  if (connection_->bells && hooks_.watch)
    watched_ = hooks_.watch(connection_->bells->descriptor(), [this] { heard(); });
}

void Store::heard() {
  if (!connection_ || !connection_->bells) return;
  bool look = false;
  std::vector<std::pair<Hint::Kind, Id>> hints;
  for (const std::string& message : connection_->bells->take()) {
    const auto kind = static_cast<unsigned char>(message[0]);
    if (message[0] == Bells::look_at_file) look = true;
    if (kind > static_cast<unsigned char>(Hint::Kind::written)) continue;
    Id subject;
    std::memcpy(subject.bytes.data(), message.data() + 1, subject.bytes.size());
    hints.emplace_back(static_cast<Hint::Kind>(kind), subject);
  }
  if (look && !connection_->database.in_transaction()) static_cast<void>(check_file(clock_.now()));
  for (const auto& [kind, subject] : hints)
    if (hooks_.hinted) hooks_.hinted(kind, subject);
}

/// Somebody may have removed the directory. Without its bell this client is not woken, and others
/// pass its waiters over; what it holds is not touched by that.
void Store::check_bell(Instant now) {
  if (Bells::deaf(settings_.client)) return;
  if (connection_->bells && connection_->bells->in_place()) return;
  doubt_bells_until_ = now + std::chrono::seconds(10);  // until the others have noticed too
  watched_.reset();
  connection_->bells.reset();
  auto bells = Bells::open(connection_->database.path(), connection_->file, settings_.client);
  if (bells)
    connection_->bells = *std::move(bells);
  else if (hooks_.log)
    hooks_.log(LogLevel::warning, "no_bell", bells.failure().words);
  watch_bell();
}

/// Two files of one name would both grant. So a client whose file has been replaced stops at once,
/// lets its leases run out, and only then takes its bell down and turns to the new file; whoever
/// opened that one before has waited for it.
std::optional<Failure> Store::check_file(Instant now) try {
  next_check_ = now + std::chrono::seconds(1);
  if (connection_ && !replaced_) {
    const std::optional<FileId> there = file_id(connection_->database.path());
    if (there == connection_->file) {
      check_bell(now);
      return std::nullopt;
    }
    replaced_ = true;
  }
  if (connection_) {
    if (now < own_until_)
      return Failure{
          errc::unavailable,
          "sqlite " + connection_->database.path() +
              ": the lock file was deleted or replaced while in use. This client does "
              "nothing until its leases on the old file have ended, then it goes on with "
              "the new one"};
    watched_.reset();
    connection_.reset();
  }
  settings_.patience = std::chrono::milliseconds(0);  // the loop must not sleep
  adopt(connect(settings_, clock_, true));
  return std::nullopt;
} catch (const Error& error) {
  return Failure{static_cast<errc>(error.code().value()), error.words()};
}

Result<driver::RecordStore::Begun> Store::begin(Access access) {
  forget();
  const Instant now = clock_.now();
  if (replaced_ || now >= next_check_ || !connection_)
    if (auto failure = check_file(now)) return *std::move(failure);

  access_ = access;
  working_ = std::unique_lock(connection_->working);
  Connection::Statements& sql = *connection_->statements;
  int code = (access == Access::write ? sql.begin_write : sql.begin_read).try_step();
  if (access == Access::read && code == SQLITE_DONE) {
    code = sql.snapshot.try_step();  // BEGIN alone takes no snapshot
    sql.snapshot.reset();
  }
  if (code == SQLITE_DONE || code == SQLITE_ROW) {
    if (connection_->bells) connection_->bells->forget_living();
    return Begun::yes;
  }
  Failure failure = connection_->database.failure(code, "begin a transaction");
  rollback();
  if (is_busy(code)) return Begun::busy;
  return failure;
}

driver::RecordStore::Committed Store::commit(Failure& why) {
  Connection& connection = *connection_;
  if (access_ == Access::write) {
    try {
      write_changes();
    } catch (const Error& error) {
      rollback();
      why = {static_cast<errc>(error.code().value()), error.words()};
      return Committed::no;
    }
  }
  const int code = connection.statements->commit.try_step();
  if (code == SQLITE_DONE) {
    forget();
    return Committed::yes;
  }
  why = connection.database.failure(code, "commit");
  rollback();
  // With a full disk the commit mark was not written. After any other error of input or output it
  // may stand in the log, and count once the log is read again.
  if ((code & 0xff) != SQLITE_IOERR) return Committed::no;
  why.code = errc::unknown;
  return Committed::unknown;
}

void Store::write_changes() {
  Connection::Statements& sql = *connection_->statements;
  const std::int64_t unix_now =
      std::chrono::duration_cast<std::chrono::seconds>(clock_.wall().time_since_epoch()).count();
  std::string bytes;
  std::size_t added = 0;
  for (auto& [name, loaded] : records_) {
    if (!loaded.changed) continue;
    const Record& record = loaded.value;
    remember_own(record);
    bytes = driver::encode(record);
    sql.put.bind(1, name)
        .bind(2, record.token)
        .bind(3, std::int64_t{record.idle() ? 0 : 1})
        .bind(4, unix_now)
        .bind_blob(5, bytes)
        .run();
    added += loaded.is_new ? 1U : 0U;
    loaded.changed = loaded.is_new = false;
  }
  for (auto& [name, loaded] : cells_) {
    if (!loaded.changed) continue;
    bytes = driver::encode(loaded.value);
    sql.put_cell.bind(1, name)
        .bind(2, loaded.value.version)
        .bind(3, std::int64_t{loaded.value.watchers.empty() ? 0 : 1})
        .bind(4, unix_now)
        .bind_blob(5, bytes)
        .run();
    loaded.changed = loaded.is_new = false;
  }
  if (ticket_) sql.meta.set(Meta::ticket, *ticket_);
  sql.retention.added(added);
  if (const Instant now = clock_.now(); sql.retention.due(now))
    sql.retention.run(sql.meta, now, unix_now);
}

void Store::rollback() noexcept {
  if (connection_ && connection_->database.in_transaction() &&
      connection_->statements->rollback.try_step() != SQLITE_DONE)
    connection_->database.rollback();
  forget();
}

void Store::forget() noexcept {
  records_.clear();
  cells_.clear();
  any_new_ = false;
  floor_.reset();
  ticket_.reset();
  if (working_) working_.unlock();
}

void Store::damaged(const char* what, std::string_view name, const Failure& why) const {
  throw Error(errc::misconfigured, "sqlite " + connection_->database.path() + ": the " + what +
                                       " " + quoted(name) + " is damaged (" + why.words +
                                       "); nothing was changed");
}

Record& Store::record(std::string_view name) {
  if (const auto known = records_.find(name); known != records_.end()) return known->second.value;
  Loaded<Record> loaded;
  Statement& get = connection_->statements->get;
  if (get.bind(1, name).step()) {
    auto decoded = driver::decode_record(get.bytes(0));
    get.reset();
    if (!decoded) damaged("record", name, decoded.failure());
    loaded.value = *std::move(decoded);
    loaded.value.token = std::max(loaded.value.token, connection_->base);
    remember_own(loaded.value);
  } else {
    loaded.is_new = any_new_ = true;
  }
  return records_.emplace(std::string(name), std::move(loaded)).first->second.value;
}

void Store::changed(std::string_view name) {
  if (const auto known = records_.find(name); known != records_.end()) known->second.changed = true;
}

CellRecord& Store::cell(std::string_view name) {
  if (const auto known = cells_.find(name); known != cells_.end()) return known->second.value;
  Loaded<CellRecord> loaded;
  Statement& get = connection_->statements->get_cell;
  if (get.bind(1, name).step()) {
    auto decoded = driver::decode_cell(get.bytes(0));
    get.reset();
    if (!decoded) damaged("cell", name, decoded.failure());
    loaded.value = *std::move(decoded);
    if (loaded.value.version != 0)
      loaded.value.version = std::max(loaded.value.version, connection_->base);
  } else {
    loaded.is_new = any_new_ = true;
  }
  return cells_.emplace(std::string(name), std::move(loaded)).first->second.value;
}

void Store::cell_changed(std::string_view name) {
  if (const auto known = cells_.find(name); known != cells_.end()) known->second.changed = true;
}

std::vector<std::string> Store::names(std::string_view prefix, std::size_t limit) {
  if (access_ == Access::write) write_changes();
  Connection::Statements& sql = *connection_->statements;
  Statement& query = prefix.empty() ? sql.names : sql.names_from;
  query.bind(1, static_cast<std::int64_t>(std::min<std::size_t>(limit, INT32_MAX)));
  std::string end(prefix);  // names are compared as bytes, and none of UTF-8 is 0xff
  if (!prefix.empty()) {
    ++end.back();
    query.bind(2, prefix).bind(3, end);
  }
  std::vector<std::string> names;
  while (query.step()) names.emplace_back(query.bytes(0));
  query.reset();
  return names;
}

std::uint64_t Store::next_ticket() {
  if (!ticket_) ticket_ = connection_->statements->meta.number(Meta::ticket);
  return ++*ticket_;
}

/// The floor matters to records that are new, for those that exist know their own past. It may rise
/// at any time by another process, so it is read in the transaction that makes one.
std::uint64_t Store::token_floor() {
  if (!any_new_) return connection_->base;
  if (!floor_) floor_ = connection_->statements->meta.number(Meta::floor);
  return *floor_;
}

/// A lease of this client can also come from another's hand-over: hence wherever one is seen.
void Store::remember_own(const Record& record) noexcept {
  for (const driver::Holder& holder : record.holders)
    if (holder.client == settings_.client) own_until_ = std::max(own_until_, holder.expires);
}

void Store::ring(const Hint& hint) noexcept try {
  if (connection_ && connection_->bells)
    connection_->bells->ring(hint.client, driver::encode(hint));
} catch (...) {  // out of memory: the hint is lost
}

bool Store::alive(const Id& client) noexcept {
  return !connection_ || !connection_->bells || client == settings_.client ||
         clock_.now() < doubt_bells_until_ || connection_->bells->alive(client);
}

}  // namespace holdfast::sqlite
