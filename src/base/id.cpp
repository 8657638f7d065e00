#include "base/id.hpp"

#include <sys/random.h>

#include <cerrno>
#include <system_error>

#include "base/fork.hpp"
#include "base/result.hpp"

namespace holdfast {
namespace {

/// Random bytes not handed out yet. Trivial, so that threads may draw while they or the process
/// end.
struct Pool {
  std::array<std::uint8_t, 4096> bytes;
  std::size_t left;
  std::uint32_t generation;
};
constinit thread_local Pool pool{};

void refill() {
  pool.left = 0;
  pool.generation = fork_generation();
  std::size_t filled = 0;
  while (filled < pool.bytes.size()) {
    const auto got = getrandom(pool.bytes.data() + filled, pool.bytes.size() - filled, 0);
    if (got > 0) {
      filled += static_cast<std::size_t>(got);
    } else if (got < 0 && errno != EINTR) {
      Failure{errc::misconfigured,
              "getrandom(2) failed: " + std::generic_category().message(errno) +
                  "; Holdfast needs it to draw ids that nobody else has"}
          .raise();
    }
  }
  pool.left = filled;
}

}  // namespace

Id Id::random() {
  Id id;
  // A child of fork has the same bytes as its parent.
  if (pool.left < id.bytes.size() || pool.generation != fork_generation()) refill();
  pool.left -= id.bytes.size();
  std::memcpy(id.bytes.data(), pool.bytes.data() + pool.left, id.bytes.size());
  return id;
}

std::string Id::hex() const {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const auto byte : bytes) {
    text += digits[byte >> 4U];
    text += digits[byte & 0xFU];
  }
  return text;
}

}  // namespace holdfast
