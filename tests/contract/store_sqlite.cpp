#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <stdexcept>

#include "contract/stores.hpp"
#include "support/scratch.hpp"

namespace holdfast::test {
namespace {

class SqliteStore final : public Store {
 public:
  std::string url() const override { return "sqlite://" + file_ + "?sync=normal"; }

  void erase(std::string_view name) override {
    sqlite3* raw = nullptr;
    const int opened = sqlite3_open(file_.c_str(), &raw);
    const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> database(raw, &sqlite3_close);
    sqlite3_busy_timeout(raw, 10'000);
    sqlite3_stmt* statement = nullptr;
    if (opened != SQLITE_OK ||
        sqlite3_prepare_v2(raw, "DELETE FROM holdfast_resource WHERE name = ?1", -1, &statement,
                           nullptr) != SQLITE_OK)
      throw std::runtime_error(sqlite3_errmsg(raw));
    sqlite3_bind_text(statement, 1, name.data(), static_cast<int>(name.size()), SQLITE_STATIC);
    sqlite3_step(statement);
    if (sqlite3_finalize(statement) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(raw));
  }

  void replace() override {
    for (const char* companion : {"-shm", "-wal", ""})
      if (std::filesystem::exists(file_ + companion))
        std::filesystem::rename(file_ + companion, scratch_.file("replaced.db") + companion);
  }

 private:
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
