#include "drivers/sqlite/connection.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

namespace holdfast::sqlite {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

/// Tries again while somebody else is in the way.
template <class Work>
auto patiently(Steady::time_point until, Work work) {
  for (milliseconds pause{1};; pause = std::min(pause * 2, milliseconds(20))) {
    try {
      return work();
    } catch (const Busy&) {
      if (Steady::now() + pause >= until) throw;
    }
    std::this_thread::sleep_for(pause);
  }
}

/// Clients of a file that was deleted or replaced may still believe in its leases. They are told,
/// and let go when these have ended; until then nobody may grant anything in the successor.
void wait_for_predecessors(const std::string& path, Steady::time_point until) {
  for (;;) {
    // After the bells, or a file that was made in between would make its first client a stranger.
    const std::size_t others = Bells::census(path, file_id(path)).other;
    if (others == 0) return;
    if (Steady::now() >= until)
      throw Error(
          errc::unavailable,
          "sqlite " + path + ": " + std::to_string(others) +
              (others == 1 ? " client still uses" : " clients still use") +
              " an older file of this name, which was deleted or replaced. They let go when "
              "their leases have ended: try again then, or stop them");
    std::this_thread::sleep_for(milliseconds(10));
  }
}

[[noreturn]] void replaced(const std::string& path) {
  throw Error(
      errc::unavailable,
      "sqlite " + path + ": the file was deleted or replaced while it was being opened; try again");
}

void hang_up_bell(Connection& connection, Settings& settings, bool again) {
  if (again && Bells::deaf(settings.client)) return;
  auto bells = Bells::open(connection.database.path(), connection.file, settings.client);
  if (bells.ok()) {
    connection.bells = std::move(*bells);
    return;
  }
  if (again) bells.failure().raise();  // others would take this client, which has a bell, for dead
  Bells::mark_deaf(settings.client, true);
  connection.deaf_because = bells.failure().words;
}

}  // namespace

Connection::Statements::Statements(Database& database)
    : begin_read(database, "BEGIN"),
      begin_write(database, "BEGIN IMMEDIATE"),
      commit(database, "COMMIT"),
      rollback(database, "ROLLBACK"),
      snapshot(database, "SELECT 1 FROM holdfast_meta LIMIT 1"),
      get(database, "SELECT record FROM holdfast_resource WHERE name = ?1"),
      put(database,
          "INSERT INTO holdfast_resource (name, token, busy, touched, record) "
          "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (name) DO UPDATE SET token = excluded.token, "
          "busy = excluded.busy, touched = excluded.touched, record = excluded.record"),
      get_cell(database, "SELECT record FROM holdfast_cell WHERE name = ?1"),
      put_cell(database,
               "INSERT INTO holdfast_cell (name, version, watched, touched, record) "
               "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (name) DO UPDATE SET "
               "version = excluded.version, watched = excluded.watched, "
               "touched = excluded.touched, record = excluded.record"),
      names(database, "SELECT name FROM holdfast_resource WHERE busy = 1 ORDER BY name LIMIT ?1"),
      names_from(database,
                 "SELECT name FROM holdfast_resource WHERE busy = 1 AND name >= ?2 AND name < ?3 "
                 "ORDER BY name LIMIT ?1"),
      meta(database),
      retention(database) {}

Connection::~Connection() {
  const auto no_fork = leave();
  statements.reset();
  if (inherited()) database.checkpoint_on_close(false);
  database.close();
  bells.reset();
}

void Connection::quit_in_child() noexcept {
  if (bells) bells->quit_in_child();
}

void Connection::discard() noexcept {
  statements.reset();
  database.checkpoint_on_close(false);  // the log belongs to the parent
  database.close();
}

std::unique_ptr<Connection> connect(Settings& settings, const Clock& clock, bool again) {
  const auto until = Steady::now() + settings.patience;
  if (sqlite3_threadsafe() == 0)
    throw Error(errc::unsupported,
                "this program runs with a SQLite that was built without threads; use another");
  ForkGuarded::discard_inherited();
  const Place place = find_place(settings.path, settings.probe).take();
  wait_for_predecessors(place.path, std::min(until, Steady::now() + milliseconds(200)));
  if (!place.exists)
    if (auto failure = make_file(place.path)) failure->raise();

  auto connection = std::make_unique<Connection>();
  const std::lock_guard no_fork(connection->working);
  Database& database = connection->database;
  database.open(place.path);
  if (database.read_only())
    throw Error(errc::denied, "sqlite " + place.path + ": the file is read-only for this user");
  patiently(until, [&] { recognise(database); });
  patiently(until, [&] { set_journal(database, settings.sync); });
  patiently(until, [&] { make_tables(database, clock.wall()); });

  const std::optional<FileId> file = file_id(database.path());
  if (!file || database.moved()) replaced(place.path);
  connection->file = *file;
  hang_up_bell(*connection, settings, again);
  // From here on, who puts another file in its place finds the bell.
  if (database.moved()) replaced(place.path);

  const auto alone = [&] {
    return connection->bells && Bells::census(database.path(), file).same <= 1;
  };
  connection->base = patiently(until, [&] {
    return settle(database, settings.machine, *file, settings.sync, clock.wall(), alone);
  });
  connection->statements = std::make_unique<Connection::Statements>(database);
  return connection;
}

}  // namespace holdfast::sqlite
