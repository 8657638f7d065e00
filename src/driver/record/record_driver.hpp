#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "driver/driver.hpp"
#include "driver/record/lock_model.hpp"
#include "driver/record/record_store.hpp"

namespace holdfast::driver {

/// A driver for any store that can keep records in transactions. Requests that are pending at the
/// same time share a transaction (group commit); waiters are woken by hints and, should one get
/// lost, by their own heartbeat and by a timer at the holder's expiry.
class RecordDriver final : public Driver {
 public:
  enum class Batching {
    none,   ///< each request runs its transaction at once, inside the call (a store in memory)
    group,  ///< all that came in since the last transaction share the next one
  };

  /// The store may call `hint` (see hinted()) on the loop at any time after its construction.
  RecordDriver(Host host, Capabilities capabilities, LockModel::Self self, Batching batching);
  ~RecordDriver() override;

  /// Called once, before anything else.
  void attach(std::unique_ptr<RecordStore> store);

  /// A hint for this client has arrived. On the loop.
  void hinted(Hint::Kind kind, const Id& subject);

  [[nodiscard]] const Capabilities& capabilities() const noexcept override;
  void acquire(RequestPtr request, Handler<Grant> handler) override;
  void cancel(const RequestPtr& request) override;
  void renew(std::vector<RequestPtr> leases, Handler<std::vector<Renewal>> handler) override;
  void release(RequestPtr lease, Handler<Released> handler) override;
  void inspect(std::string name, Handler<ResourceInfo> handler) override;
  void list(std::string prefix, std::size_t limit,
            Handler<std::vector<ResourceInfo>> handler) override;
  void revoke(std::string name, Handler<std::size_t> handler) override;
  void read(std::string cell, Handler<CellValue> handler) override;
  void write(std::string cell, std::string value, std::uint64_t expected,
             Handler<std::uint64_t> handler) override;
  void watch(std::string cell, std::uint64_t since, Instant deadline,
             Handler<CellValue> handler) override;

 private:
  // What was asked, on its way through a transaction: see record_ops.hpp.
  struct Step;
  struct Op;
  struct Acquire;
  struct Check;
  struct Withdraw;
  struct Renew;
  struct Release;
  struct Verify;
  struct Watch;
  template <class T>
  struct Ask;

  /// An acquire that is queued in the store.
  struct Waiting {
    RequestPtr request;
    Handler<Grant> handler;
    Instant confirmed;     ///< the store last said that it waits
    Instant beat;          ///< when the next heartbeat is due
    Instant look;          ///< when a holder in its way expires
    bool asked = false;    ///< a heartbeat is under way
    bool leaving = false;  ///< a withdrawal is under way
  };
  /// A lease that others may ask for, or that may be taken from us.
  struct Held {
    RequestPtr request;
    Instant until;
  };
  struct Watching {
    std::string cell;
    std::uint64_t since;
    Instant deadline;
    Handler<CellValue> handler;
    Instant refresh;
    bool asked = false;
    bool leaving = false;
  };
  /// What a transaction of ours has done to another request of ours.
  struct News {
    Hint hint;
    std::optional<Grant> grant{};
    Handler<Grant> handler{};
    LossReason reason = LossReason::none;
    std::optional<CellValue> value{};
  };

  // The pump (record_pump.cpp).
  template <class T>
  void submit(T op);
  void schedule_pump();
  void pump();
  [[nodiscard]] std::chrono::system_clock::time_point wall(Instant now) noexcept;
  void retry_later();
  void give_up_late();
  [[nodiscard]] bool run(std::span<Op* const> ops);
  [[nodiscard]] bool attempt(std::span<Op* const> ops, std::vector<Hint>& hints,
                             std::vector<News>& news, bool& unsure);
  [[nodiscard]] bool apply(std::span<Op* const> ops, Step& step);
  void overhear(Step& step, std::span<Op* const> ops, const std::vector<Hint>& hints,
                std::vector<News>& news);
  void accept(std::vector<News>& news);
  void tell(std::vector<News>& news);
  void deliver(News& news);

  // Those who wait and those who hold (record_waits.cpp).
  void hold(const RequestPtr& request, const Grant& grant);
  void wait(RequestPtr request, Handler<Grant> handler, const LockModel::Standing& standing);
  [[nodiscard]] Handler<Grant> stop_waiting(const Id& id);
  void still_waiting(Waiting& waiting, const LockModel::Standing& standing);
  void heartbeat_failed(const Id& id, const Failure& failure);
  void report_lost(const Id& id, LossReason reason);
  void finish_watch(const Id& id, Result<CellValue> outcome);
  void recheck_all();
  void schedule(Instant due);
  void on_timer();
  [[nodiscard]] static Instant due(const Waiting& waiting) noexcept;
  [[nodiscard]] static Instant due(const Watching& watching) noexcept;
  void leave_store() noexcept;

  Host host_;
  Capabilities capabilities_;
  LockModel::Self self_;
  Batching batching_;
  std::uint32_t birth_;  ///< fork_generation() of our process
  std::unique_ptr<RecordStore> store_;

  Instant wall_read_ = Instant::min();
  std::chrono::system_clock::time_point wall_;

  std::deque<std::unique_ptr<Op>> queue_;
  bool pump_due_ = false;  ///< posted, or the retry timer is armed
  unsigned busy_rounds_ = 0;
  std::uint32_t jitter_;
  Loop::Timer retry_;

  std::unordered_map<Id, Waiting> waiting_;
  std::unordered_map<Id, Watching> watching_;
  std::unordered_map<Id, Held> held_;
  std::unordered_map<Id, Held>::node_type
      spare_;  ///< short leases come and go: spares memory traffic
  std::size_t sweep_held_at_ = 1024;
  Loop::Timer timer_;
  Instant armed_ = Instant::max();

  std::deque<News> news_;
  bool telling_ = false;
  std::shared_ptr<const bool> present_;  ///< posted tasks look whether we are still there
};

}  // namespace holdfast::driver
