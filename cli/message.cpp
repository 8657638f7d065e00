#include "message.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <holdfast/error.hpp>

namespace holdfast::cli {
namespace {

std::string sentence(std::string_view what, std::string_view why, std::string_view to_do) {
  auto words = fmt::format("{}: {}", what, why);
  if (to_do.empty()) return words;
  if (!words.ends_with('.') && !words.ends_with('?')) words += '.';
  return words.append(" ").append(to_do);
}

}  // namespace

ExitCode exit_code(const std::error_code& error) noexcept {
  if (error.category() != error_category()) return internal;
  switch (static_cast<errc>(error.value())) {
    case errc::timeout:
    case errc::canceled:
      return busy;
    case errc::lost:
      return lost;
    case errc::bad_name:
    case errc::bad_url:
    case errc::bad_argument:
      return usage;
    case errc::unavailable:
    case errc::unknown:
    case errc::unsupported:
    case errc::denied:
    case errc::misconfigured:
    case errc::closed:
    case errc::conflict:
      return unavailable;
  }
  return internal;
}

void say(std::string_view words) noexcept {
  try {
    const auto line = fmt::format("holdfast: {}\n", words);
    // Nothing is left to be done about a failure: this is where failures are told.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  } catch (...) {
  }
}

Complaint::Complaint(ExitCode code, std::string_view what, std::string_view why,
                     std::string_view to_do)
    : std::runtime_error(sentence(what, why, to_do)), code_(code) {}

void complain_errno(std::string_view what, int error, std::string_view to_do) {
  throw Complaint(internal, what, std::strerror(error), to_do);
}

bool finish_output() noexcept {
  const bool failed_before = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !failed_before) return true;
  say(std::string("standard output: ") + std::strerror(errno));
  return false;
}

}  // namespace holdfast::cli
