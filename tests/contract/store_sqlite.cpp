#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <thread>

#include "contract/stores.hpp"
#include "support/scratch.hpp"

namespace holdfast::test {
namespace {

class SqliteStore final : public Store {
 public:
  std::string url() const override { return "sqlite://" + file_ + "?sync=normal"; }

  void erase(std::string_view name) override {
    const auto database = open();
    sqlite3_stmt* statement = nullptr;
    check(database,
          sqlite3_prepare_v2(database.get(), "DELETE FROM holdfast_resource WHERE name = ?1", -1,
                             &statement, nullptr));
    sqlite3_bind_text(statement, 1, name.data(), static_cast<int>(name.size()), SQLITE_STATIC);
    sqlite3_step(statement);
    check(database, sqlite3_finalize(statement));
  }

  void lock_for(std::chrono::milliseconds time) override {
    const auto database = open();
    check(database, sqlite3_exec(database.get(), "BEGIN IMMEDIATE", nullptr, nullptr, nullptr));
    std::this_thread::sleep_for(time);
    check(database, sqlite3_exec(database.get(), "COMMIT", nullptr, nullptr, nullptr));
  }

  void replace() override {
    for (const char* companion : {"-shm", "-wal", ""})
      if (std::filesystem::exists(file_ + companion))
        std::filesystem::rename(file_ + companion, scratch_.file("replaced.db") + companion);
  }

 private:
  using Database = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;

  [[nodiscard]] Database open() const {
    sqlite3* raw = nullptr;
    const int opened = sqlite3_open(file_.c_str(), &raw);
    Database database(raw, &sqlite3_close);
    check(database, opened);
    sqlite3_busy_timeout(raw, 30'000);
    return database;
  }
  static void check(const Database& database, int code) {
    if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(database.get()));
  }

  Scratch scratch_;
  std::string file_ = scratch_.file("locks.db");
};

}  // namespace

StoreKind sqlite_store() {
  return {.name = "sqlite",
          .make = [] { return std::make_unique<SqliteStore>(); },
          .several_processes = true,
          .open_to_others = true,
          .keeps = true};
}

}  // namespace holdfast::test
