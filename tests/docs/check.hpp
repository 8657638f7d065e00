#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>
#include <system_error>

#include <holdfast/error.hpp>

/// What a page of the documentation claims; the program fails where it is not so.
inline void check(bool claim, const std::source_location& where = std::source_location::current()) {
  if (claim) return;
  std::fprintf(stderr, "%s:%u: what the documentation claims here is not so\n", where.file_name(),
               static_cast<unsigned>(where.line()));
  std::exit(EXIT_FAILURE);
}

/// The code of the Error that a call throws; none if it throws none.
template <class Call>
[[nodiscard]] std::error_code error_of(Call&& call) {
  try {
    static_cast<void>(call());
  } catch (const holdfast::Error& error) {
    return error.code();
  }
  return {};
}
