// The example of README.md.

#include <cstdint>

#include "check.hpp"

namespace {

std::uint64_t highest = 0;

/// What a user protects: it refuses tokens that are older than one it has seen.
void write_part(int part, std::uint64_t token) {
  check(part >= 0 && token > 0 && token >= highest);
  highest = token;
}

}  // namespace

// [example]
#include <holdfast/holdfast.hpp>

int main() {
  using namespace std::chrono_literals;
  holdfast::Client client("sqlite:readme-locks.db");  // a file: all processes of this machine
  auto mutex = client.mutex("report:nightly");

  auto lease = mutex.try_acquire_for(10s);  // std::optional: busy is a value, not an error
  if (!lease) return 75;

  for (int part = 0; part < 100; ++part) {
    if (lease->stop_token().stop_requested()) return 76;  // lost: somebody else may be at it
    write_part(part, lease->token());  // whoever keeps the report refuses older tokens
  }
  return lease->release() == holdfast::ReleaseOutcome::released ? 0 : 76;
}
// [/example]
