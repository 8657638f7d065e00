#include <holdfast/cell.hpp>
#include <holdfast/lease_source.hpp>

#include "client/engine.hpp"

namespace holdfast {

namespace {

constexpr std::size_t max_value_bytes = 64 * 1024;

}  // namespace

CellValue Cell::read() const { return engine_->read(name_).take(); }

std::uint64_t Cell::write(std::string_view value, std::uint64_t expected_version) const {
  if (value.size() > max_value_bytes)
    throw Error(errc::bad_argument, "a cell holds at most 64 KiB; this value has " +
                                        std::to_string(value.size()) + " bytes");
  return engine_->write(name_, std::string(value), expected_version).take();
}

std::optional<CellValue> Cell::watch(std::uint64_t since, std::chrono::milliseconds wait) const {
  auto result = engine_->watch(name_, since, LeaseSource::after(wait));
  if (!result && result.failure().code == errc::timeout) return std::nullopt;
  return std::move(result).take();
}

}  // namespace holdfast
