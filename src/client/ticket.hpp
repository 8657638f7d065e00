#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include <holdfast/lease.hpp>

#include "base/loop.hpp"
#include "base/result.hpp"
#include "client/recipe.hpp"
#include "client/tenure.hpp"

namespace holdfast::client {

/// One acquire on its way. Guarded by the engine's mutex until it is finished.
struct Ticket {
  Ticket(const std::shared_ptr<const Recipe>& from, Instant until, Instant begun) noexcept
      : recipe(from), deadline(until), started(begun) {}
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  const std::shared_ptr<const Recipe>& recipe;  ///< the caller keeps it
  Instant deadline;
  Instant started;

  enum class Place { nowhere, local_queue, at_store, finished };
  Place place = Place::nowhere;
  std::shared_ptr<Tenure> tenure;     ///< at_store: what it may become
  bool stood = false;                 ///< at_store: brought to the driver
  std::atomic<bool> canceled{false};  ///< somebody asked for its end

  std::optional<Result<Lease>> result;

  // Links of the engine's list of unfinished tickets, and of the local queue.
  Ticket* before = nullptr;
  Ticket* after = nullptr;
  Ticket* ahead = nullptr;
  Ticket* behind = nullptr;

  /// The result is there. Called once, under the engine's mutex; afterwards the ticket may be gone.
  virtual void finished() noexcept = 0;

 protected:
  ~Ticket() = default;
};

/// A thread waits for it.
struct BlockingTicket final : Ticket {
  BlockingTicket(Loop& loop, const std::shared_ptr<const Recipe>& from, Instant until,
                 Instant begun) noexcept
      : Ticket(from, until, begun), call(loop) {}
  void finished() noexcept override { call.done(); }
  Loop::Call call;
};

}  // namespace holdfast::client
