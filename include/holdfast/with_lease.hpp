#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <holdfast/lease_source.hpp>

namespace holdfast {

/// What a function run by with_lease() sees of its lease: all but the right to end it.
/// Valid during the call only. Thread-safe.
class Held {
 public:
  explicit Held(const Lease& lease) noexcept : lease_(&lease) {}
  [[nodiscard]] std::uint64_t token() const noexcept { return lease_->token(); }
  [[nodiscard]] std::uint64_t token(std::string_view name) const noexcept {
    return lease_->token(name);
  }
  [[nodiscard]] LeaseState state() const noexcept { return lease_->state(); }
  [[nodiscard]] boot_clock::time_point valid_until() const noexcept {
    return lease_->valid_until();
  }
  [[nodiscard]] Predecessor predecessor() const noexcept { return lease_->predecessor(); }
  [[nodiscard]] std::stop_token stop_token() const { return lease_->stop_token(); }
  void ensure_held() const { lease_->ensure_held(); }

 private:
  const Lease* lease_;
};

/// Takes a lease, runs `work` under it and releases. Waits for ever for the lease. Throws
/// errc::lost when the lease was no longer ours at the end: then `work` ran, but not all of it
/// under the lock, and its result is dropped. An exception of `work` passes through unchanged.
template <std::invocable<Held> Work>
std::invoke_result_t<Work, Held> with_lease(const LeaseSource& source, Work&& work) {
  Lease lease = source.acquire();
  const auto finish = [&lease] {
    if (lease.release() == ReleaseOutcome::already_lost)
      throw Error(errc::lost, "the lease on '" + lease.names().front() +
                                  "' was lost before its work had ended");
  };
  if constexpr (std::is_void_v<std::invoke_result_t<Work, Held>>) {
    std::invoke(std::forward<Work>(work), Held(lease));
    finish();
  } else {
    auto result = std::invoke(std::forward<Work>(work), Held(lease));
    finish();
    return result;
  }
}

}  // namespace holdfast
