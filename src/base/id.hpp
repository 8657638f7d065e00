#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

namespace holdfast {

/// 128 random bits from the system: the identity of a lease, a client, a request.
struct Id {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const Id&) const = default;

  /// Drawn from getrandom(2), a block at a time; never handed out twice, not even across fork(2).
  /// Thread-safe.
  [[nodiscard]] static Id random();
  /// 32 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() const;
};

}  // namespace holdfast

template <>
struct std::hash<holdfast::Id> {
  std::size_t operator()(const holdfast::Id& id) const noexcept {
    std::size_t part;  // the bits are random already
    std::memcpy(&part, id.bytes.data(), sizeof part);
    return part;
  }
};
