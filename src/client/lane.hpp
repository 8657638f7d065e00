#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <holdfast/options.hpp>

#include "client/tenure.hpp"
#include "client/ticket.hpp"

namespace holdfast::client {

/// Tickets in order of arrival, linked through themselves: an empty queue costs two pointers.
class LocalQueue {
 public:
  [[nodiscard]] bool empty() const noexcept { return !first_; }
  [[nodiscard]] Ticket& front() const noexcept { return *first_; }
  void push_back(Ticket& ticket) noexcept {
    ticket.ahead = last_;
    ticket.behind = nullptr;
    (last_ ? last_->behind : first_) = &ticket;
    last_ = &ticket;
  }
  void erase(Ticket& ticket) noexcept {
    (ticket.ahead ? ticket.ahead->behind : first_) = ticket.behind;
    (ticket.behind ? ticket.behind->ahead : last_) = ticket.ahead;
  }

 private:
  Ticket* first_ = nullptr;
  Ticket* last_ = nullptr;
};

/// The local queue of one resource: of all exclusive requests of this client for it, one stands at
/// the store, or holds; the others wait here. Guarded by the engine's mutex.
struct Lane {
  Tenure* holder = nullptr;
  Ticket* standing = nullptr;  ///< its request is at the store
  LocalQueue waiting;

  [[nodiscard]] bool busy() const noexcept { return holder || standing || !waiting.empty(); }
};

/// How many tokens a grant reserves when others of this client wait already: enough for two
/// milliseconds of passing, few enough that tokens stay below the wall clock in microseconds.
inline constexpr std::uint32_t pass_block = 512;

/// May this tenure go on to a local waiter, or must it go back to the store? Bounded by its tokens,
/// by what is left of its TTL (a third), and, while others wait at the store, by the number of
/// passes and by time, so that those do not starve.
[[nodiscard]] inline bool may_pass(const Tenure& tenure, Instant now,
                                   const ClientOptions& options) noexcept {
  if (options.local_passes == 0 || tenure.tokens_used >= tenure.token_block) return false;
  if (tenure.at(now) != Tenure::Standing::held || now > tenure.basis + tenure.ttl * 2 / 3)
    return false;
  if (!tenure.contended) return true;
  return tenure.passes < options.local_passes &&
         now - tenure.contended_since < options.local_pass_time;
}

}  // namespace holdfast::client
