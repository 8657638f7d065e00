#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "exit_code.hpp"

namespace holdfast::cli {

/// Prints one line for people to standard error, in one write, so that lines of several processes
/// do not mix. Starts it with "holdfast: ". Thread-safe.
void say(std::string_view words) noexcept;

/// Ends the program with words for people: what failed, why, and what to do.
class Complaint : public std::runtime_error {
 public:
  Complaint(ExitCode code, std::string_view what, std::string_view why,
            std::string_view to_do = {});
  [[nodiscard]] ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// A Complaint about a system call, from errno.
[[noreturn]] void complain_errno(std::string_view what, int error, std::string_view to_do = {});

/// Makes sure that all that was printed has arrived; false (and words) if not.
[[nodiscard]] bool finish_output() noexcept;

}  // namespace holdfast::cli
