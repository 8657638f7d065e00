#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace holdfast::bench {

namespace {

const bool on_terminal = ::isatty(STDERR_FILENO) != 0;
std::string current;
int shown = -1;

}  // namespace

void progress_case(std::string_view store, std::string_view name) {
  current = fmt::format("{}: {}", store, name);
  shown = -1;
  if (on_terminal)
    progress(0);
  else
    fmt::print(stderr, "{} …\n", current);
}

void progress(int percent) {
  if (!on_terminal || percent == shown) return;
  shown = percent;
  fmt::print(stderr, "\r\x1b[K{} … {} %", current, percent);
  std::fflush(stderr);
}

void progress_clear() {
  if (on_terminal) fmt::print(stderr, "\r\x1b[K");
}

}  // namespace holdfast::bench
