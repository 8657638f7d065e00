#pragma once

#include <random>

#include "demo/buyers.hpp"

namespace holdfast::cli {

/// `demo sale --chaos`: hits buyers with kill -9, or freezes them for longer than their lease
/// lasts, each few sales. Every other time it hits the one that has just got the lock, where it
/// hurts most.
class Tormentor {
 public:
  explicit Tormentor(std::int64_t items);

  void on_sale() noexcept { --sales_to_go_; }
  /// `holder` has just been granted the lock.
  void on_grant(Buyers& buyers, std::size_t holder);

  [[nodiscard]] unsigned kills() const noexcept { return kills_; }
  [[nodiscard]] unsigned stops() const noexcept { return stops_; }

 private:
  [[nodiscard]] int draw(int least, int most) {
    return std::uniform_int_distribution(least, most)(random_);
  }
  void rest();

  std::mt19937 random_{std::random_device{}()};
  std::int64_t items_;
  std::int64_t sales_to_go_ = 0;
  unsigned kills_ = 0, stops_ = 0;
};

}  // namespace holdfast::cli
