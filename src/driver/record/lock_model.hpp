#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/driver.hpp"
#include "driver/record/record.hpp"
#include "driver/record/record_store.hpp"

namespace holdfast::driver {

/// What "locked" means: the rules of design.md §5 as steps on records. No I/O, no clock, no thread;
/// each step runs inside a transaction of the store and returns what happened. The reference for
/// every other store.
///
/// Order: first come, first served, by ticket. A request is granted when it fits beside the holders
/// of all its names and no live waiter with a lower ticket stands before it at any of them. Since
/// all queues are in ticket order, requests for several names cannot deadlock. A waiter whose
/// heartbeat is late is passed over and keeps its place; it is dropped after `waiter_retention`.
class LockModel {
 public:
  static constexpr Duration waiter_retention = std::chrono::seconds(60);

  /// How long after a heartbeat a waiter counts as alive: three heartbeats, at most 6 s and at most
  /// its TTL. A hand-over to a waiter that has died meanwhile costs the others no more than this.
  [[nodiscard]] static Duration waiter_window(Duration ttl) noexcept;

  struct Self {
    Id client;
    std::string label;
  };

  LockModel(RecordStore& store, const Self& self, Instant now,
            std::chrono::system_clock::time_point wall, std::vector<Hint>& hints) noexcept;

  /// Where a request stands after a step.
  struct Standing {
    std::optional<Grant> grant{};  ///< granted (basis is left to the caller; ttl is what remains)
    bool queued = false;
    std::size_t ahead = 0;  ///< queued: live waiters before it
    Instant look_again{};   ///< queued: when the earliest holder in its way expires
  };

  /// First try, retry of a request whose answer was lost, downgrade, and heartbeat of a waiter that
  /// may have been dropped: all the same step, told apart by what the record knows of the id.
  /// Failures: timeout (busy, may_wait is false; the words name the holder), misconfigured (another
  /// limit), lost (this id was granted before and has ended), bad_argument.
  /// `unheard`: nobody has been told of a grant of this id yet (a waiter that was asleep for longer
  /// than its hand-over lasted), so that it queues again instead of being lost.
  [[nodiscard]] Result<Standing> acquire(const Request& request, bool may_wait,
                                         bool unheard = false);

  /// Where it stands, without changing anything (for a read transaction).
  [[nodiscard]] Standing look(const Request& request);

  /// What stands in the way of a request, in words: who holds it and for how long yet.
  [[nodiscard]] std::string blockers(const Request& request);

  /// Ends a wait. If the grant came first it stays and is returned.
  [[nodiscard]] std::optional<Grant> withdraw(const Request& request);

  [[nodiscard]] Renewal renew(const Request& request);
  [[nodiscard]] Released release(const Request& request);
  [[nodiscard]] std::size_t revoke(std::string_view name);
  /// Why a lease is not there: as renew() would say, without changing anything; nothing if it is.
  [[nodiscard]] std::optional<LossReason> lost(const Request& request);

  /// For a read transaction: holders that have expired are left out, but not removed.
  [[nodiscard]] ResourceInfo inspect(std::string_view name);

  [[nodiscard]] CellValue read(std::string_view cell);
  [[nodiscard]] Result<std::uint64_t> write(std::string_view cell, std::string value,
                                            std::uint64_t expected);
  /// The value if its version is above `since`; else registers the watcher until now +
  /// watch_window.
  static constexpr Duration watch_window = std::chrono::seconds(6);
  [[nodiscard]] std::optional<CellValue> watch(std::string_view cell, std::uint64_t since,
                                               const Id& watch);
  void unwatch(std::string_view cell, const Id& watch);

 private:
  using Rows = std::span<Record* const>;
  using Names = std::vector<std::string>;

  [[nodiscard]] Rows rows(const Names& names);
  [[nodiscard]] bool over(const Holder& holder) const noexcept { return holder.expires <= now_; }
  [[nodiscard]] bool alive(const Waiter& waiter) const noexcept;
  [[nodiscard]] bool waited_for(const Record& record, std::uint64_t before) const noexcept;

  // Grants.
  [[nodiscard]] std::optional<std::uint64_t> next_token(const Record& record, std::uint32_t block);
  [[nodiscard]] std::optional<Grant> held(const Request& request, Rows rows) const;
  [[nodiscard]] bool downgrade(const Request& request, Rows rows);
  [[nodiscard]] Result<Grant> grant(const Request& request, Rows rows);
  [[nodiscard]] Standing standing(const Request& request, Rows rows) const;
  void enqueue(const Request& request, Rows rows);
  [[nodiscard]] bool heartbeat(const Request& request, Rows rows);

  // Ends.
  void end(Record& record, std::size_t holder, Predecessor how);
  [[nodiscard]] bool end_rest(const Request& request, Rows rows);
  [[nodiscard]] bool leave_queue(const Request& request, Rows rows);
  [[nodiscard]] LossReason why_gone(const Request& request, Rows rows) const noexcept;

  // What follows from them.
  void settle(const Names& names);
  [[nodiscard]] bool expire(const std::string& name, Record& record);
  void hand_over(const std::string& name, Names& affected);
  [[nodiscard]] bool admissible(const std::string& name, const Waiter& waiter, Names& affected);
  [[nodiscard]] bool promote(const std::string& name, std::size_t waiter, Names& affected);

  RecordStore& store_;
  const Self& self_;
  Instant now_;
  std::chrono::system_clock::time_point wall_;
  std::vector<Hint>& hints_;
  Record* one_ = nullptr;  // what rows() points to: no allocation for one name
  std::vector<Record*> many_;
};

}  // namespace holdfast::driver
