#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

struct sqlite3;

namespace holdfast::cli {

/// The thing that a lock protects in the demo: a shop's database with one item on sale. It is a
/// prop, and plays an application that reads, thinks and writes back outside any transaction, as
/// applications do.
class Shop {
 public:
  static void create(const std::string& path, std::int64_t items);
  explicit Shop(const std::string& path);

  [[nodiscard]] std::int64_t stock();

  /// First half of the fence: the item remembers the highest token; false if it has seen a newer
  /// one.
  ///
  /// It comes *before* the stock is read. A check in the write alone would not do: an old holder
  /// that was frozen with its write in hand could wake up between our read and our write. Its token
  /// would still be the highest that the item has seen, its write would be let in, and ours,
  /// computed from a stock that is no longer true, right after it: one item sold twice. Once the
  /// fence is raised, no older write can come between.
  [[nodiscard]] bool raise_fence(std::uint64_t token);

  /// Writes back the stock and the order, in one transaction, so that a kill never leaves half of
  /// it. With a token: false, and nothing written, unless the fence still stands where we raised
  /// it.
  [[nodiscard]] bool sell(std::int64_t new_stock, unsigned buyer,
                          std::optional<std::uint64_t> token);
  void count_rejected_write();

  struct Totals {
    std::int64_t orders = 0, stock = 0, rejected = 0;
  };
  [[nodiscard]] Totals totals();

 private:
  struct Close {
    void operator()(sqlite3* database) const noexcept;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace holdfast::cli
