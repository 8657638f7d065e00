#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "client/tenure.hpp"

namespace holdfast::client {

/// Decides when tenures are renewed, doubted and declared lost. A plain state machine: it gets the
/// time and what happened, and answers what to do; the engine does it. Adding and removing are
/// O(1), so that short holds pay nothing for it; each check looks at all.
///
/// A tenure is renewed at a third of its TTL. Whatever is due within the next 30th of its own TTL
/// is renewed along, so that thousands of leases share a few batches. A failed renewal is tried
/// again until valid_until. At half the TTL without a confirmed renewal the tenure is doubtful.
///
/// Does not own tenures. Guarded by the engine's mutex.
class Keeper {
 public:
  void add(Tenure& tenure) noexcept;
  void remove(Tenure& tenure) noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// The tenures to renew now; marks them as renewing.
  [[nodiscard]] std::vector<Tenure*> due(Instant now);
  /// When due() has something next; Instant::max() if never.
  [[nodiscard]] Instant next_renewal() const noexcept;

  void renewed(Tenure& tenure, Instant basis, Duration ttl) noexcept;
  /// Transient: tried again soon.
  void failed(Tenure& tenure, Instant now) noexcept;

  struct Verdicts {
    std::vector<Tenure*> lost;      ///< valid_until has passed
    std::vector<Tenure*> doubtful;  ///< newly so
  };
  [[nodiscard]] Verdicts judge(Instant now);
  /// When judge() has something next; Instant::max() if never.
  [[nodiscard]] Instant next_verdict() const noexcept;

  /// When a tenure is renewed, and when it is doubted.
  [[nodiscard]] static Instant renewal_at(const Tenure& tenure) noexcept;
  [[nodiscard]] static Instant jeopardy_at(const Tenure& tenure) noexcept;

  /// Calls `visit` for each tenure; it may remove the one it is given.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (Tenure* tenure = first_; tenure;) {
      Tenure* next = tenure->after;
      visit(*tenure);
      tenure = next;
    }
  }

 private:
  Tenure* first_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace holdfast::client
