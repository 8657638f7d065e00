#include "client/engine.hpp"
#include "client/engine_ask.hpp"

namespace holdfast::client {

Result<ResourceInfo> Engine::inspect(std::string name) {
  return ask<ResourceInfo>(
      [&](auto handler) { driver_->inspect(std::move(name), std::move(handler)); });
}

Result<std::vector<ResourceInfo>> Engine::list(std::string prefix, std::size_t limit) {
  return ask<std::vector<ResourceInfo>>(
      [&](auto handler) { driver_->list(std::move(prefix), limit, std::move(handler)); });
}

Result<std::size_t> Engine::revoke(std::string name) {
  return ask<std::size_t>(
      [&](auto handler) { driver_->revoke(std::move(name), std::move(handler)); });
}

Result<CellValue> Engine::read(std::string cell) {
  return ask<CellValue>([&](auto handler) { driver_->read(std::move(cell), std::move(handler)); });
}

Result<std::uint64_t> Engine::write(std::string cell, std::string value, std::uint64_t expected) {
  return ask<std::uint64_t>([&](auto handler) {
    driver_->write(std::move(cell), std::move(value), expected, std::move(handler));
  });
}

Result<CellValue> Engine::watch(std::string cell, std::uint64_t since, Instant deadline) {
  return ask<CellValue>(
      [&](auto handler) { driver_->watch(std::move(cell), since, deadline, std::move(handler)); });
}

}  // namespace holdfast::client
