#pragma once

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/record/codec.hpp"
#include "drivers/sqlite/store.hpp"
#include "support/scratch.hpp"
#include "support/timing.hpp"

namespace holdfast::test {

using Access = driver::RecordStore::Access;
using Begun = driver::RecordStore::Begun;
using Committed = driver::RecordStore::Committed;

/// The system's clocks, moved.
class MovedClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override { return system().now() + boot; }
  [[nodiscard]] std::chrono::system_clock::time_point wall() const noexcept override {
    return system().wall() + std::chrono::duration_cast<std::chrono::system_clock::duration>(day);
  }
  Duration boot{}, day{};
};

[[nodiscard]] inline std::string path_of(const Scratch& scratch) {
  return scratch.file("locks.db");
}

[[nodiscard]] inline sqlite::Settings settings_for(const std::string& path) {
  sqlite::Settings settings;
  settings.path = path;
  settings.sync = sqlite::Sync::normal;
  settings.client = Id::random();
  sqlite::Bells::mark_deaf(settings.client, false);
  settings.patience = patience;
  settings.machine = sqlite::Machine::here();
  return settings;
}

[[nodiscard]] inline std::unique_ptr<sqlite::Store> open_store(sqlite::Settings settings,
                                                               const Clock& clock = Clock::system(),
                                                               sqlite::Store::Hooks hooks = {}) {
  return std::make_unique<sqlite::Store>(std::move(settings), clock, std::move(hooks));
}
[[nodiscard]] inline std::unique_ptr<sqlite::Store> open_store(
    const std::string& path, const Clock& clock = Clock::system()) {
  return open_store(settings_for(path), clock);
}

/// Why a lock file cannot be opened; code timeout if it can.
[[nodiscard]] inline Failure refusal(sqlite::Settings settings) {
  try {
    static_cast<void>(open_store(std::move(settings)));
    return {errc::timeout, "it opens"};
  } catch (const Error& error) {
    return {static_cast<errc>(error.code().value()), error.words()};
  }
}
[[nodiscard]] inline Failure refusal(const std::string& path) {
  return refusal(settings_for(path));
}

/// A write transaction, tried until it begins.
template <class Work>
Committed write(sqlite::Store& store, Work work, Failure* reason = nullptr) {
  for (;;) {
    auto begun = store.begin(Access::write);
    if (!begun) begun.failure().raise();
    if (*begun == Begun::yes) break;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  try {
    work();
  } catch (...) {
    store.rollback();
    throw;
  }
  Failure why{errc::timeout, {}};
  const Committed outcome = store.commit(why);
  if (reason) *reason = why;
  return outcome;
}

/// What a grant does to a record, as far as the store cares.
inline Committed hold(sqlite::Store& store, const std::string& name,
                      Duration ttl = std::chrono::hours(1), const Clock& clock = Clock::system(),
                      Failure* why = nullptr) {
  return write(
      store,
      [&] {
        driver::Record& record = store.record(name);
        record.token = std::max(record.token, store.token_floor()) + 1;
        driver::Holder holder;
        holder.lease = Id::random();
        holder.client = store.client();
        holder.owner = "tester";
        holder.token = record.token;
        holder.expires = clock.now() + ttl;
        holder.ttl = ttl;
        record.holders = {holder};
        store.changed(name);
      },
      why);
}

inline Committed free(sqlite::Store& store, const std::string& name) {
  return write(store, [&] {
    driver::Record& record = store.record(name);
    record.holders.clear();
    record.ended = Predecessor::released;
    store.changed(name);
  });
}

[[nodiscard]] inline driver::Record look(sqlite::Store& store, const std::string& name) {
  auto begun = store.begin(Access::read);
  if (!begun) begun.failure().raise();
  if (*begun == Begun::busy) throw std::runtime_error("a reader never waits");
  driver::Record record;
  try {
    record = store.record(name);
  } catch (...) {
    store.rollback();
    throw;
  }
  store.rollback();
  return record;
}

/// SQL by hand. Returns the first column of the last row.
inline std::string sql(const std::string& path, const std::string& text) {
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open(path.c_str(), &raw);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database(raw, &sqlite3_close);
  if (opened != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(raw));
  sqlite3_busy_timeout(raw, 10'000);
  std::string result;
  const auto row = [](void* to, int, char** columns, char**) {
    *static_cast<std::string*>(to) = columns[0] ? columns[0] : "NULL";
    return 0;
  };
  if (sqlite3_exec(raw, text.c_str(), row, &result, nullptr) != SQLITE_OK)
    throw std::runtime_error(std::string(sqlite3_errmsg(raw)) + " in " + text);
  return result;
}

[[nodiscard]] inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Runs `work` in a child of fork; what it returns or throws comes back as words, empty if all is
/// well. No SQLite file may be open in the parent.
[[nodiscard]] inline std::string in_child(const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    std::string words;
    try {
      words = work();
    } catch (const std::exception& error) {
      words = std::string("threw: ") + error.what();
    }
    [[maybe_unused]] const ssize_t ignored = ::write(ends[1], words.data(), words.size());
    ::_exit(words.empty() ? 0 : 1);
  }
  ::close(ends[1]);
  std::string words;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    words.append(buffer.data(), static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (words.empty() && status != 0) words = "ended with status " + std::to_string(status);
  return words;
}

}  // namespace holdfast::test
