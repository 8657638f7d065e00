#pragma once

namespace holdfast::cli {

/// A signal asked us to end before there was anything to show for it: exit code 128 + signal.
struct Interrupted {
  int signal;
};

}  // namespace holdfast::cli
