#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/clock.hpp>

namespace holdfast::test {

/// A file that many processes append lines to, as the outside resource that a lock protects: it
/// remembers the highest token and refuses older ones, if the writer sends its token along.
class Register {
 public:
  struct Line {
    boot_clock::time_point at;
    std::uint64_t token;
    bool fenced;
    std::string who;
  };
  explicit Register(std::string path) : path_(std::move(path)) {}

  /// In one step, as a database would: false when `fenced` and a newer token has been here.
  bool append(std::uint64_t token, std::string_view who, bool fenced) const;
  [[nodiscard]] std::vector<Line> lines() const;

 private:
  std::string path_;
};

/// A number in a file that is read, thought about and written back, as applications do it: two that
/// do it at the same time lose an update.
class Counter {
 public:
  explicit Counter(std::string path) : path_(std::move(path)) {}
  void increment() const;
  [[nodiscard]] std::int64_t read() const;

 private:
  std::string path_;
};

}  // namespace holdfast::test
