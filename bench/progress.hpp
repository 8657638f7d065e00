#pragma once

#include <string_view>

namespace holdfast::bench {

/// A line on standard error that says what is being measured: one line that changes on a terminal,
/// else one a case.
void progress_case(std::string_view store, std::string_view name);
/// How much of it is done.
void progress(int percent);
/// Takes the line away, before something else is printed.
void progress_clear();

}  // namespace holdfast::bench
