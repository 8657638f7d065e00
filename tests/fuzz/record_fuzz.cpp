#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "driver/record/codec.hpp"

using namespace holdfast::driver;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

/// What can be read is written back as the same bytes, and read from them as the same value.
template <class Decode>
void round_trip(std::string_view bytes, Decode decode) {
  const auto value = decode(bytes);
  if (!value.ok()) {
    require(value.failure().code == holdfast::errc::misconfigured);
    return;
  }
  require(encode(value.value()) == bytes);
  require(decode(encode(value.value())).value() == value.value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  round_trip(bytes, decode_record);
  round_trip(bytes, decode_cell);
  return 0;
}
