#include "client/engine.hpp"
#include "client/engine_ask.hpp"

namespace holdfast::client {

Result<ResourceInfo> Engine::inspect(std::string name) {
  return ask<ResourceInfo>("inspect", name,
                           [&](auto handler) { driver_->inspect(name, std::move(handler)); });
}

Result<std::vector<ResourceInfo>> Engine::list(std::string prefix, std::size_t limit) {
  return ask<std::vector<ResourceInfo>>(
      "list", prefix, [&](auto handler) { driver_->list(prefix, limit, std::move(handler)); });
}

Result<std::size_t> Engine::revoke(std::string name) {
  return ask<std::size_t>("revoke", name,
                          [&](auto handler) { driver_->revoke(name, std::move(handler)); });
}

Result<CellValue> Engine::read(std::string cell) {
  return ask<CellValue>("read", cell,
                        [&](auto handler) { driver_->read(cell, std::move(handler)); });
}

Result<std::uint64_t> Engine::write(std::string cell, std::string value, std::uint64_t expected) {
  return ask<std::uint64_t>("write", cell, [&](auto handler) {
    driver_->write(cell, std::move(value), expected, std::move(handler));
  });
}

Result<CellValue> Engine::watch(std::string cell, std::uint64_t since, Instant deadline) {
  return ask<CellValue>("watch", cell, [&](auto handler) {
    driver_->watch(cell, since, deadline, std::move(handler));
  });
}

}  // namespace holdfast::client
