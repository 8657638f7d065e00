#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <holdfast/lease.hpp>

#include "base/clock.hpp"
#include "driver/driver.hpp"

namespace holdfast::client {

class Hold;
struct Lane;

/// What the client has of a store: one grant, from its request to its release or loss. Leases of
/// callers (Hold) sit on it, usually one; passing a lease inside the client changes who sits there.
///
///   held ──(store out of reach, or renewal overdue)──▶ doubtful ──(renewed)──▶ held
///     └──────────────┬─(valid_until, revoked, limit)──────┘
///                    ▼
///                  lost          (release() ends a tenure from any state)
///
/// The atomics may be read by anyone; all else is guarded by the engine's mutex.
struct Tenure {
  enum class Standing : std::uint8_t { held, doubtful, lost };

  driver::Request request;  ///< immutable once it was brought to the driver
  driver::Tokens tokens;    ///< first of each block, in the order of request.names
  std::uint32_t token_block = 1;
  std::uint32_t tokens_used = 1;
  Predecessor predecessor = Predecessor::none;
  bool auto_renew = true;

  std::atomic<Standing> standing{Standing::held};
  std::atomic<LossReason> reason{LossReason::none};
  std::atomic<Instant::rep> valid_until{0};  ///< nanoseconds of boot_clock; the hold limit included

  Instant basis{};  ///< of the last confirmed grant or renewal
  Duration ttl{};   ///< as confirmed then
  std::atomic<Instant::rep> hold_limit{
      Instant::max().time_since_epoch().count()};  ///< as valid_until
  Instant retry_at{};                              ///< next renewal after a failed one
  bool renewing = false;

  bool contended = false;    ///< others wait at the store …
  Instant contended_since;   ///< … since then, as far as we know
  std::uint32_t passes = 0;  ///< local passes since then

  Lane* lane = nullptr;   ///< where it may be passed (the recipe keeps it); null if it may not
  Hold* holds = nullptr;  ///< who sits on it, a list: more than one only by re-entry

  // Links of the keeper's list.
  Tenure* before = nullptr;
  Tenure* after = nullptr;
  bool kept = false;

  /// The request as drivers share it.
  [[nodiscard]] static driver::RequestPtr asked(const std::shared_ptr<Tenure>& tenure) noexcept {
    return {tenure, &tenure->request};
  }

  /// What a holder may believe at `now`.
  [[nodiscard]] Standing at(Instant now) const noexcept {
    const auto standing_now = standing.load(std::memory_order_acquire);
    if (standing_now != Standing::lost &&
        now.time_since_epoch().count() >= valid_until.load(std::memory_order_acquire))
      return Standing::lost;
    return standing_now;
  }

  /// Why it is lost, also when only the clock says so yet.
  [[nodiscard]] LossReason loss_reason() const noexcept;

  /// Takes over what a grant or a renewal confirmed.
  void confirm(Instant from, Duration granted_ttl) noexcept;
  /// valid_until anew, after a change of hold_limit.
  void bound() noexcept;
};

/// How far before the end of the TTL a holder stops believing: clocks may drift apart and the last
/// instruction before the deadline takes time. 5 % of the TTL, at least 50 ms, at most a quarter.
[[nodiscard]] Duration drift_margin(Duration ttl) noexcept;

}  // namespace holdfast::client
