#pragma once

/// The inside of RecordDriver: what was asked of it, on its way through a transaction.

#include <optional>
#include <span>
#include <utility>

#include "driver/record/record_driver.hpp"

namespace holdfast::driver {

/// A transaction under way.
struct RecordDriver::Step {
  LockModel& model;
  RecordStore& store;
  RecordDriver& driver;
  Instant basis;  ///< just before it began: validity counts from here
  Instant now;
};

struct RecordDriver::Op {
  std::optional<Failure> failure{};  ///< of the store
  Instant give_up = Instant::max();  ///< set when the store is found busy

  Op() = default;
  Op(Op&&) = default;
  Op& operator=(Op&&) = delete;
  virtual ~Op() = default;

  [[nodiscard]] virtual bool writes() const noexcept { return true; }
  [[nodiscard]] virtual std::size_t leases() const noexcept { return 0; }
  [[nodiscard]] virtual bool acquires(const Id&) const noexcept { return false; }
  /// What the destructor of the driver still does for it.
  [[nodiscard]] virtual RequestPtr frees() const noexcept { return nullptr; }
  /// When it fails for a store that stays busy, and how.
  [[nodiscard]] virtual Instant patience() const noexcept { return Instant::max(); }

  /// Inside the transaction; done again if that had to be rolled back.
  virtual void apply(Step& step) = 0;
  /// Inside it, at its end, when it has handed leases over to this client.
  virtual void revisit(Step&) {}
  /// Committed: bring the driver's tables up to date. Calls no handler.
  virtual void accept(RecordDriver&) {}
  /// Afterwards. May call a handler, which may call the driver.
  virtual void finish(RecordDriver& driver) = 0;
  virtual void fail(RecordDriver& driver, const Failure& why) = 0;
};

struct RecordDriver::Acquire final : Op {
  RequestPtr request;
  Handler<Grant> handler;
  std::optional<Result<LockModel::Standing>> result{};

  Acquire(RequestPtr wanted, Handler<Grant> then)
      : request(std::move(wanted)), handler(std::move(then)) {}
  [[nodiscard]] bool acquires(const Id& id) const noexcept override { return request->id == id; }
  [[nodiscard]] Instant patience() const noexcept override {
    return request->deadline == Instant::min() ? Instant::max() : request->deadline;
  }
  void apply(Step& step) override;
  void revisit(Step& step) override;
  void accept(RecordDriver& driver) override;
  void finish(RecordDriver& driver) override;
  void fail(RecordDriver& driver, const Failure& why) override;
};

/// Where a waiting request stands: a heartbeat, or after a hint only a look.
struct RecordDriver::Check final : Op {
  RequestPtr request;
  bool heartbeat;
  std::optional<Result<LockModel::Standing>> result{};
  Handler<Grant> handler{};

  Check(RequestPtr waiting, bool beat) : request(std::move(waiting)), heartbeat(beat) {}
  [[nodiscard]] bool writes() const noexcept override { return heartbeat; }
  void apply(Step& step) override;
  void revisit(Step& step) override;
  void accept(RecordDriver& driver) override;
  void finish(RecordDriver& driver) override;
  void fail(RecordDriver& driver, const Failure& why) override;
};

/// The end of a wait: timeout or canceled, unless the grant came first.
struct RecordDriver::Withdraw final : Op {
  RequestPtr request;
  errc code;
  std::string words{};
  std::optional<Grant> grant{};
  Handler<Grant> handler{};

  Withdraw(RequestPtr waiting, errc why) : request(std::move(waiting)), code(why) {}
  void apply(Step& step) override;
  void accept(RecordDriver& driver) override;
  void finish(RecordDriver& driver) override;
  void fail(RecordDriver& driver, const Failure& why) override;
};

/// A part of a batch of renewals; the handler is called after the last part.
struct RecordDriver::Renew final : Op {
  struct Batch {
    std::vector<RequestPtr> leases;
    Handler<std::vector<Renewal>> handler;
    std::vector<Renewal> renewals;
    std::size_t parts = 0;
    std::size_t answered = 0;  ///< parts
    std::size_t failed = 0;    ///< of them
  };
  std::shared_ptr<Batch> batch;
  std::size_t first;
  std::size_t last;

  Renew(std::shared_ptr<Batch> whole, std::size_t from, std::size_t to)
      : batch(std::move(whole)), first(from), last(to) {}
  [[nodiscard]] std::size_t leases() const noexcept override { return last - first; }
  void apply(Step& step) override;
  void accept(RecordDriver& driver) override;
  void finish(RecordDriver& driver) override;
  void fail(RecordDriver& driver, const Failure& why) override;
};

struct RecordDriver::Release final : Op {
  RequestPtr lease;
  Handler<Released> handler;  ///< may be empty
  Released outcome = Released::already_lost;

  Release(RequestPtr held, Handler<Released> then)
      : lease(std::move(held)), handler(std::move(then)) {}
  [[nodiscard]] RequestPtr frees() const noexcept override { return lease; }
  void apply(Step& step) override;
  void finish(RecordDriver& driver) override;
  void fail(RecordDriver& driver, const Failure& why) override;
};

/// Looks whether a lease that is said to be lost really is.
struct RecordDriver::Verify final : Op {
  RequestPtr lease;
  std::optional<LossReason> reason{};

  explicit Verify(RequestPtr held) : lease(std::move(held)) {}
  [[nodiscard]] bool writes() const noexcept override { return false; }
  void apply(Step& step) override;
  void finish(RecordDriver& driver) override;
  void fail(RecordDriver&, const Failure&) override {}
};

/// Registers the watcher of a cell, keeps it registered, or takes it away at the end.
struct RecordDriver::Watch final : Op {
  Id id;
  bool last;
  std::optional<CellValue> value{};

  Watch(const Id& watch, bool ends) : id(watch), last(ends) {}
  void apply(Step& step) override;
  void finish(RecordDriver& driver) override;
  void fail(RecordDriver& driver, const Failure& why) override;
};

/// Anything that is one question with one answer.
template <class T>
struct RecordDriver::Ask final : Op {
  bool changes;
  UniqueFunction<Result<T>(Step&)> ask;
  Handler<T> handler;
  std::optional<Result<T>> answer{};

  Ask(bool write, UniqueFunction<Result<T>(Step&)> question, Handler<T> then)
      : changes(write), ask(std::move(question)), handler(std::move(then)) {}
  [[nodiscard]] bool writes() const noexcept override { return changes; }
  void apply(Step& step) override { answer.emplace(ask(step)); }
  void finish(RecordDriver&) override { handler(*std::move(answer)); }
  void fail(RecordDriver&, const Failure& why) override { handler(why); }
};

/// Batching::none: through a transaction at once, without a trip to the heap.
template <class T>
void RecordDriver::submit(T op) {
  if (batching_ == Batching::none && queue_.empty()) {
    Op* const one = &op;
    if (run({&one, 1})) return;
    queue_.push_back(std::make_unique<T>(std::move(op)));
    retry_later();
    return;
  }
  queue_.push_back(std::make_unique<T>(std::move(op)));
  schedule_pump();
}

}  // namespace holdfast::driver
