#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "holds.hpp"

namespace holdfast::bench {

/// What a worker says when it has done what it was told.
struct Answer {
  struct Figures {
    double cpu = 0;   ///< seconds of processor time, user and system …
    double wall = 0;  ///< … in this time
    double bytes = 0;
    std::uint64_t renewals = 0;
    std::uint64_t lost = 0;  ///< leases
  } figures;
  std::vector<Hold> holds;
};

/// Another process of this program, as a participant of a case. It is told things in lines through
/// a pipe, and answers through another; it ends when the first one is closed.
class Worker {
 public:
  /// `role`: which one of roles.cpp, with its arguments. Returns when it is ready.
  explicit Worker(const std::vector<std::string>& role);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void tell(const std::string& line);
  /// Waits for the answer, at most `limit`; throws if there is none.
  [[nodiscard]] Answer answer(Duration limit = std::chrono::seconds(30));

 private:
  void read(void* to, std::size_t size, Instant until);

  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  std::string name_;
};

/// The first argument of a worker.
inline constexpr const char* worker_mark = "--worker";

/// What a worker uses: the next thing that it is told (false: the end), and its answer.
[[nodiscard]] bool next_order(std::string& line);
void give(const Answer& answer);

/// main() of a worker.
int serve(const std::vector<std::string>& role);

}  // namespace holdfast::bench
