#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <holdfast/options.hpp>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "driver/record/record_store.hpp"
#include "drivers/sqlite/connection.hpp"

namespace holdfast::sqlite {

/// Records in a SQLite file, shared by all processes of one machine. An uncontended lease costs,
/// per transaction: BEGIN IMMEDIATE, one SELECT, one upsert, COMMIT.
class Store final : public driver::RecordStore {
 public:
  /// What the store needs of its surroundings.
  struct Hooks {
    /// Watches a descriptor until the result is destroyed. May be empty: heard() is then called by
    /// hand.
    UniqueFunction<std::shared_ptr<void>(int descriptor, Task readable)> watch;
    UniqueFunction<void(driver::Hint::Kind, const Id& subject)> hinted;
    UniqueFunction<void(LogLevel, std::string_view event, std::string_view words)> log;
  };

  /// Throws Error.
  Store(Settings settings, const Clock& clock, Hooks hooks);
  ~Store() override;

  /// The id that this client's records must carry.
  [[nodiscard]] const Id& client() const noexcept { return settings_.client; }
  /// Takes what has come in for this client.
  void heard();

  [[nodiscard]] Result<Begun> begin(Access access) override;
  [[nodiscard]] Committed commit(Failure& why) override;
  void rollback() noexcept override;
  [[nodiscard]] driver::Record& record(std::string_view name) override;
  void changed(std::string_view name) override;
  [[nodiscard]] driver::CellRecord& cell(std::string_view name) override;
  void cell_changed(std::string_view name) override;
  [[nodiscard]] std::vector<std::string> names(std::string_view prefix, std::size_t limit) override;
  [[nodiscard]] std::uint64_t next_ticket() override;
  [[nodiscard]] std::uint64_t token_floor() override;
  void ring(const driver::Hint& hint) noexcept override;
  [[nodiscard]] bool alive(const Id& client) noexcept override;

 private:
  template <class T>
  struct Loaded {
    T value;
    bool is_new = false;
    bool changed = false;
  };
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  template <class T>
  using Cache = std::unordered_map<std::string, Loaded<T>, TextHash, std::equal_to<>>;

  void adopt(std::unique_ptr<Connection> connection);
  void watch_bell();
  [[nodiscard]] std::optional<Failure> check_file(Instant now);
  void check_bell(Instant now);
  void remember_own(const driver::Record& record) noexcept;
  [[noreturn]] void damaged(const char* what, std::string_view name, const Failure& why) const;
  void write_changes();
  void forget() noexcept;

  Settings settings_;
  const Clock& clock_;
  Hooks hooks_;
  std::unique_ptr<Connection> connection_;
  std::shared_ptr<void> watched_;
  Instant next_check_{};
  Instant doubt_bells_until_{};
  bool replaced_ = false;  ///< the path leads to another file now, or to none
  Instant own_until_{};    ///< when all leases that this client ever saw itself hold have ended

  // Of the transaction.
  std::unique_lock<std::mutex> working_;  ///< keeps fork(2) out; see ForkGuarded
  Access access_ = Access::read;
  Cache<driver::Record> records_;
  Cache<driver::CellRecord> cells_;
  bool any_new_ = false;
  std::optional<std::uint64_t> floor_, ticket_;
};

}  // namespace holdfast::sqlite
