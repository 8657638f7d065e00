#pragma once

#include <cstdint>

namespace holdfast::cli {

/// What a buyer tells the demo, through a pipe: small enough to be written in one piece.
struct BuyerEvent {
  enum class Kind : std::uint8_t {
    ready,    ///< has opened all that it needs
    granted,  ///< has the lock, after `value` microseconds
    done,     ///< has given it back
    sold,
    rejected,  ///< the shop refused its write: a newer holder has been there
  };
  Kind kind;
  std::uint8_t unused = 0;
  std::uint16_t buyer;
  std::uint32_t value = 0;
};

/// Where a buyer finds its pipes.
inline constexpr int buyer_events = 3, buyer_start = 4;

}  // namespace holdfast::cli
