#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "driver/record/record.hpp"

namespace holdfast::driver {

/// Records as bytes, for stores that keep them in one value. The format is documented in
/// docs/record-format.md: a version byte, then fields in fixed order, integers little-endian, texts
/// with a length before them. decode() takes any bytes: it fails (errc::misconfigured), and never
/// reads out of bounds or allocates more than a small multiple of the input.
[[nodiscard]] std::string encode(const Record& record);
[[nodiscard]] Result<Record> decode_record(std::string_view bytes);

[[nodiscard]] std::string encode(const CellRecord& cell);
[[nodiscard]] Result<CellRecord> decode_cell(std::string_view bytes);

/// 17 bytes: kind and subject. The client is the address that it is sent to.
[[nodiscard]] std::string encode(const Hint& hint);

}  // namespace holdfast::driver
