#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <holdfast/clock.hpp>
#include <holdfast/resource.hpp>

namespace holdfast {

namespace client {
class Hold;
}

/// What a holder may believe.
enum class LeaseState {
  held,      ///< ours until valid_until() at least
  doubtful,  ///< the store has been out of reach since the last renewal; ours until valid_until()
             ///< at most
  lost,      ///< over without a release; see Lease::loss_reason()
  released,  ///< given back by us
};

enum class LossReason {
  none,           ///< not lost
  expired,        ///< not renewed in time: the process was paused, or auto_renew is off
  revoked,        ///< an operator took it away
  session_lost,   ///< the store ended the session that carried it
  unreachable,    ///< the store was out of reach until valid_until()
  hold_limit,     ///< LeaseOptions::max_hold was reached
  client_closed,  ///< the client was closed under it
  forked,         ///< this is a child of fork(2): it holds nothing
};

enum class ReleaseOutcome {
  released,      ///< the store confirmed that it was ours and that it is free
  already_lost,  ///< it was not ours any more: what was done last may not have been protected
  unknown,  ///< no answer; Holdfast goes on releasing in the background until the TTL has passed
};

[[nodiscard]] std::string_view to_string(LeaseState) noexcept;
[[nodiscard]] std::string_view to_string(LossReason) noexcept;
[[nodiscard]] std::string_view to_string(ReleaseOutcome) noexcept;
[[nodiscard]] std::string_view to_string(Predecessor) noexcept;

/// What an owner holds, for a limited time. Move-only, and the only thing that can release.
///
/// A lease can end under its holder (expiry, revocation, store out of reach). It says so in time:
/// stop_token() fires, state() turns to lost, ensure_held() throws; all no later than
/// valid_until(), which counts from just before the request was sent (rule 2 of
/// docs/architecture.md).
///
/// The destructor never throws and never waits for the store: it releases in the background.
/// Call release() to learn the outcome. Thread-safe: const members may be called from any thread;
/// moving, releasing and destroying need the usual exclusive access.
class Lease {
 public:
  /// An empty lease: state() is released, token() is 0.
  Lease() noexcept;
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  /// True unless empty or moved from. Says nothing of the lease's state.
  [[nodiscard]] explicit operator bool() const noexcept { return hold_ != nullptr; }

  /// The fencing token: higher than that of every earlier grant of this resource. Pass it to what
  /// you protect (holdfast/fence.hpp), which refuses older ones. For several names: of the first.
  [[nodiscard]] std::uint64_t token() const noexcept;
  /// The token of one of several names; 0 if the lease does not cover the name.
  [[nodiscard]] std::uint64_t token(std::string_view name) const noexcept;

  /// Reads the clock: never says held after valid_until(), even when no timer could run.
  [[nodiscard]] LeaseState state() const noexcept;
  [[nodiscard]] LossReason loss_reason() const noexcept;
  [[nodiscard]] boot_clock::time_point valid_until() const noexcept;
  /// How the holder before us ended.
  [[nodiscard]] Predecessor predecessor() const noexcept;
  [[nodiscard]] const std::vector<std::string>& names() const noexcept;
  /// As named by the caller, or the lease's own random identity.
  [[nodiscard]] std::string owner() const;

  /// Fires once when the lease is lost (or doubtful, see LeaseOptions::stop_at). Stop callbacks run
  /// on a thread of the client that serves all its leases: keep them short.
  [[nodiscard]] std::stop_token stop_token() const;
  /// Calls back once on loss, at once if it is lost already; same thread rule as stop_token().
  void on_loss(std::function<void(LossReason)> callback);
  /// Calls back each time that a renewal is overdue: a good time to stop new work.
  void on_jeopardy(std::function<void()> callback);

  /// Throws Error(errc::lost) unless the lease is held or doubtful.
  void ensure_held() const;
  /// Non-throwing twin: sets errc::lost and returns false.
  bool ensure_held(std::error_code& error) const noexcept;

  /// Extends the lease now by one TTL and waits for the store's answer. Throws errc::lost when it
  /// is gone, errc::unavailable or errc::unknown when the store gave no answer (the lease then
  /// stays doubtful until valid_until()). Never re-creates a lease that is gone.
  void renew();
  void renew(std::error_code& error) noexcept;

  /// Turns an exclusive lease of a shared mutex into a shared one without letting a writer between.
  /// Throws errc::unsupported where the store cannot, errc::lost when it is gone.
  void downgrade();

  /// Gives the lease back and waits for the answer, at most ClientOptions::request_timeout.
  /// Idempotent; never frees another's lease; never throws. The lease ends in any case.
  ReleaseOutcome release() noexcept;

 private:
  friend class client::Hold;
  explicit Lease(std::shared_ptr<client::Hold> hold) noexcept;
  std::shared_ptr<client::Hold> hold_;
};

}  // namespace holdfast
