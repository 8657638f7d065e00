#include <holdfast/lease_source.hpp>

#include "client/engine.hpp"

namespace holdfast {

namespace {

bool empty_handed(const Failure& failure) { return failure.code == errc::timeout; }

}  // namespace

Lease LeaseSource::acquire() const { return acquire(std::stop_token{}); }

Lease LeaseSource::acquire(std::stop_token stop) const {
  return engine_->acquire(recipe_, Instant::max(), std::move(stop)).take();
}

std::optional<Lease> LeaseSource::attempt(Instant deadline, std::stop_token stop) const {
  auto result = engine_->acquire(recipe_, deadline, std::move(stop));
  if (!result && empty_handed(result.failure())) return std::nullopt;
  return std::move(result).take();
}

std::optional<Lease> LeaseSource::attempt(Instant deadline, std::stop_token stop,
                                          std::error_code& error) const noexcept {
  auto result = engine_->acquire(recipe_, deadline, std::move(stop));
  error = result ? std::error_code{} : make_error_code(result.failure().code);
  if (!result) return std::nullopt;
  return std::move(result).value();
}

void LeaseSource::start_acquire(Instant deadline, std::stop_token stop, Done done) const {
  engine_->start_acquire(recipe_, deadline, std::move(stop), std::move(done));
}

}  // namespace holdfast
