#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/clock.hpp>

namespace holdfast {

class Client;
namespace client {
class Engine;
}

/// A cell's value with its version; version 0 means that it was never written.
struct CellValue {
  std::string value;
  std::uint64_t version = 0;
};

/// A small named value (up to 64 KiB) whose version rises with each write. Cells and resources have
/// separate name spaces. Made by Client::cell(). Thread-safe.
class Cell {
 public:
  [[nodiscard]] CellValue read() const;

  /// Writes if the cell still has the expected version (0: never written) and returns the new one.
  /// Throws errc::conflict otherwise, errc::unknown when no answer came.
  std::uint64_t write(std::string_view value, std::uint64_t expected_version) const;

  /// Waits until the version is higher than `since`, for at most `wait`; empty when the wait ended
  /// first. Versions in between may be skipped: what comes back is the newest.
  [[nodiscard]] std::optional<CellValue> watch(std::uint64_t since,
                                               std::chrono::milliseconds wait) const;

 private:
  friend class Client;
  Cell(std::shared_ptr<client::Engine> engine, std::string name) noexcept
      : engine_(std::move(engine)), name_(std::move(name)) {}
  std::shared_ptr<client::Engine> engine_;
  std::string name_;
};

}  // namespace holdfast
