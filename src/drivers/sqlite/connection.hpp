#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/id.hpp"
#include "drivers/sqlite/bells.hpp"
#include "drivers/sqlite/database.hpp"
#include "drivers/sqlite/filesystem.hpp"
#include "drivers/sqlite/fork_guard.hpp"
#include "drivers/sqlite/machine.hpp"
#include "drivers/sqlite/retention.hpp"
#include "drivers/sqlite/schema.hpp"

namespace holdfast::sqlite {

struct Settings {
  std::string path;
  Sync sync = Sync::full;
  Id client;                                  ///< may be marked deaf by the first connect()
  std::chrono::milliseconds patience{5'000};  ///< with others who open or write, when opening
  // What tests replace.
  Machine machine;
  FileSystemProbe probe = probe_file_system;
};

/// A lock file that is open, ours, and fit for use.
struct Connection final : ForkGuarded {
  Connection() = default;
  ~Connection();

  Database database;
  FileId file;
  std::uint64_t base = 0;        ///< Meta::base
  std::unique_ptr<Bells> bells;  ///< null for a deaf client
  std::string deaf_because;      ///< words, if deaf

  /// What the transactions use again and again. Made last.
  struct Statements {
    explicit Statements(Database& database);
    Statement begin_read, begin_write, commit, rollback, snapshot;
    Statement get, put, get_cell, put_cell, names, names_from;
    Meta meta;
    Retention retention;
  };
  std::unique_ptr<Statements> statements;

 private:
  void quit_in_child() noexcept override;
  void discard() noexcept override;
};

/// Opens a lock file, after making it if there is none. Throws Error. May sleep for
/// settings.patience in all while others are in the way. `again`: the client has been connected
/// before, and its kind (deaf or not) stands.
[[nodiscard]] std::unique_ptr<Connection> connect(Settings& settings, const Clock& clock,
                                                  bool again = false);

}  // namespace holdfast::sqlite
