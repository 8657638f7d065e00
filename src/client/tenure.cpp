#include "client/tenure.hpp"

#include <algorithm>

namespace holdfast::client {

Duration drift_margin(Duration ttl) noexcept {
  return std::min<Duration>(std::max<Duration>(ttl / 20, std::chrono::milliseconds(50)), ttl / 4);
}

void Tenure::confirm(Instant from, Duration granted_ttl) noexcept {
  basis = from;
  ttl = granted_ttl;
  retry_at = Instant{};
  bound();
}

void Tenure::bound() noexcept {
  const auto end = (basis + ttl - drift_margin(ttl)).time_since_epoch().count();
  valid_until.store(std::min(end, hold_limit.load(std::memory_order_relaxed)),
                    std::memory_order_release);
}

LossReason Tenure::loss_reason() const noexcept {
  const auto said = reason.load(std::memory_order_acquire);
  if (said != LossReason::none) return said;
  if (valid_until.load(std::memory_order_acquire) == hold_limit.load(std::memory_order_acquire))
    return LossReason::hold_limit;
  // Never doubtful and yet over: nobody ran in between, or nobody was to renew it.
  return standing.load(std::memory_order_acquire) == Standing::doubtful ? LossReason::unreachable
                                                                        : LossReason::expired;
}

}  // namespace holdfast::client
