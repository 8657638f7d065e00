#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::cli {

/// What becomes of the command when its lease is lost.
enum class OnLoss { terminate, kill, warn };

/// `holdfast run`, checked.
struct RunOptions {
  std::vector<std::string> names;
  std::vector<std::string> command;
  std::optional<std::chrono::milliseconds> wait;  ///< nothing: for ever
  std::chrono::milliseconds ttl{30'000}, grace{10'000}, max_hold{0};
  bool shared = false;
  std::uint32_t permits = 0;  ///< 0: not a semaphore
  OnLoss on_loss = OnLoss::terminate;
  std::string note, owner, store;
  bool quiet = false, verbose = false;
};

}  // namespace holdfast::cli
