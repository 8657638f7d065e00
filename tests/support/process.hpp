#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "support/timing.hpp"

namespace holdfast::test {

/// A child process with pipes on its standard input and output. Killed when it goes out of scope.
class Process {
 public:
  /// `environment`: additions, each "NAME=value". Standard error is the parent's.
  explicit Process(std::vector<std::string> command,
                   const std::vector<std::string>& environment = {});
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();

  void write(const std::string& line);
  void close_input();
  /// The next line of its output without the newline; nothing at its end or when the time is over.
  [[nodiscard]] std::optional<std::string> read_line(std::chrono::milliseconds limit = patience);

  void signal(int number);
  void pause();   ///< SIGSTOP; returns when all its threads stand still
  void resume();  ///< SIGCONT
  void kill();    ///< SIGKILL and reap

  struct Exit {
    bool by_signal = false;
    int code = 0;  ///< exit status or signal number
    bool operator==(const Exit&) const = default;
  };
  /// Waits for its end; nothing when the time is over.
  [[nodiscard]] std::optional<Exit> wait(std::chrono::milliseconds limit = patience);
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  void close_pipes() noexcept;
  pid_t pid_ = -1;
  int pidfd_ = -1;
  int input_ = -1;
  int output_ = -1;
  std::string buffer_;
  std::optional<Exit> exit_;
};

}  // namespace holdfast::test
