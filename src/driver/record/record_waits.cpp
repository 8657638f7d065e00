// RecordDriver: the requests that wait in the store, the leases that we hold, and the watches.

#include <algorithm>
#include <array>
#include <thread>

#include "base/duration.hpp"
#include "base/fork.hpp"
#include "base/name.hpp"
#include "driver/record/record_ops.hpp"

namespace holdfast::driver {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr Duration herd_gap = milliseconds(20);  // between those who wait for the same expiry
constexpr Duration longest_silence = milliseconds(200);  // from a failed heartbeat to the next try

Duration heartbeat_every(const Request& request) {
  return LockModel::waiter_window(request.ttl) / 3;
}

}  // namespace

void RecordDriver::hold(const RequestPtr& request, const Grant& grant) {
  Held held{request, grant.basis + grant.ttl};
  if (spare_ && !held_.contains(request->id)) {  // it is there after a downgrade
    spare_.key() = request->id;
    spare_.mapped() = std::move(held);
    held_.insert(std::move(spare_));
  } else {
    held_.insert_or_assign(request->id, std::move(held));
  }
  if (held_.size() < sweep_held_at_) return;
  // Leases that their client has given up without a release, since the store was out of reach.
  std::erase_if(held_, [long_ago = grant.basis - seconds(60)](const auto& entry) {
    return entry.second.until < long_ago;
  });
  sweep_held_at_ = std::max<std::size_t>(1024, 2 * held_.size());
}

void RecordDriver::wait(RequestPtr request, Handler<Grant> handler,
                        const LockModel::Standing& standing) {
  Waiting& waiting = waiting_[request->id];
  waiting.request = std::move(request);
  waiting.handler = std::move(handler);
  still_waiting(waiting, standing);
}

void RecordDriver::still_waiting(Waiting& waiting, const LockModel::Standing& standing) {
  const Instant now = host_.clock.now();
  waiting.asked = false;
  waiting.confirmed = now;
  waiting.beat = now + heartbeat_every(*waiting.request);
  waiting.look = Instant::max();
  if (standing.look_again < Instant::max() - seconds(3600))
    waiting.look = std::max(standing.look_again, now + milliseconds(1)) +
                   herd_gap * static_cast<int>(std::min<std::size_t>(standing.ahead, 1000));
  schedule(due(waiting));
}

Handler<Grant> RecordDriver::stop_waiting(const Id& id) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return {};
  Handler<Grant> handler = std::move(found->second.handler);
  waiting_.erase(found);
  return handler;
}

void RecordDriver::heartbeat_failed(const Id& id, const Failure& failure) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return;
  Waiting& waiting = found->second;
  waiting.asked = false;
  const std::string& name = waiting.request->names.front();
  const Instant now = host_.clock.now();
  const bool passing = failure.code == errc::unavailable || failure.code == errc::unknown;
  if (passing && now - waiting.confirmed < host_.request_timeout) {
    if (host_.log) host_.log(LogLevel::warning, "heartbeat_failed", name, failure.words);
    waiting.beat = now + std::min(heartbeat_every(*waiting.request), longest_silence);
    schedule(due(waiting));
    return;
  }
  // Its entry may still be there, and it may even be granted: the client cleans up what is unknown.
  const Failure words{passing ? errc::unknown : failure.code,
                      "the wait for " + quoted(name) +
                          " could not go on, since the store gave no " + "answer for " +
                          format_duration(host_.request_timeout) + ": " + failure.words};
  stop_waiting(id)(passing ? words : failure);
}

void RecordDriver::report_lost(const Id& id, LossReason reason) {
  const auto found = held_.find(id);
  if (found == held_.end()) return;
  const RequestPtr request = std::move(found->second.request);
  held_.erase(found);
  if (request->names.size() > 1) submit(Release(request, {}));  // what is left of it
  if (host_.event) host_.event({.kind = Event::Kind::lost, .lease = id, .reason = reason});
}

void RecordDriver::finish_watch(const Id& id, Result<CellValue> outcome) {
  const auto found = watching_.find(id);
  if (found == watching_.end()) return;
  Handler<CellValue> handler = std::move(found->second.handler);
  watching_.erase(found);
  handler(std::move(outcome));
}

/// After a commit of which nobody knows whether it happened. Not at once, in case that it goes on
/// so.
void RecordDriver::recheck_all() {
  const Instant soon = host_.clock.now() + milliseconds(10);
  for (auto& [id, waiting] : waiting_) waiting.beat = std::min(waiting.beat, soon);
  if (!waiting_.empty()) schedule(soon);
}

Instant RecordDriver::due(const Waiting& waiting) noexcept {
  if (waiting.leaving) return Instant::max();
  if (waiting.asked) return waiting.request->deadline;
  return std::min({waiting.request->deadline, waiting.beat, waiting.look});
}

Instant RecordDriver::due(const Watching& watching) noexcept {
  if (watching.leaving) return Instant::max();
  return watching.asked ? watching.deadline : std::min(watching.deadline, watching.refresh);
}

void RecordDriver::schedule(Instant due) {
  if (due >= armed_) return;
  armed_ = due;
  timer_.arm(due, [this] { on_timer(); });
}

/// Heartbeats that are due soon come along, so that all of them share a transaction.
void RecordDriver::on_timer() {
  armed_ = Instant::max();
  const Instant now = host_.clock.now();
  std::vector<RequestPtr> checks;
  std::vector<RequestPtr> over;
  Instant next = Instant::max();
  for (auto& [id, waiting] : waiting_) {
    if (waiting.leaving) continue;
    const Request& request = *waiting.request;
    if (request.deadline <= now) {
      waiting.leaving = true;
      over.push_back(waiting.request);
    } else if (!waiting.asked &&
               std::min(waiting.look, waiting.beat - heartbeat_every(request) / 2) <= now) {
      waiting.asked = true;
      checks.push_back(waiting.request);
    }
    next = std::min(next, due(waiting));
  }
  std::vector<std::pair<Id, bool>> watches;
  for (auto& [id, watching] : watching_) {
    if (watching.leaving) continue;
    watching.leaving = watching.deadline <= now;
    if (watching.leaving || (!watching.asked && watching.refresh <= now)) {
      watching.asked = true;
      watches.emplace_back(id, watching.leaving);
    }
    next = std::min(next, due(watching));
  }
  schedule(next);
  for (auto& request : checks) submit(Check(std::move(request), true));
  for (auto& request : over) submit(Withdraw(std::move(request), errc::timeout));
  for (const auto& [id, last] : watches) submit(Watch(id, last));
}

void RecordDriver::hinted(Hint::Kind kind, const Id& subject) {
  switch (kind) {
    case Hint::Kind::granted:
      if (const auto found = waiting_.find(subject); found != waiting_.end())
        submit(Check(found->second.request, false));
      break;
    case Hint::Kind::lost:
      if (const auto found = held_.find(subject); found != held_.end())
        submit(Verify(found->second.request));
      break;
    case Hint::Kind::wanted:
      if (held_.contains(subject) && host_.event)
        host_.event({.kind = Event::Kind::wanted, .lease = subject});
      break;
    case Hint::Kind::written:
      if (const auto found = watching_.find(subject); found != watching_.end())
        submit(Watch(subject, false));
      break;
  }
}

/// The last thing that a driver does: nobody shall wait behind us for longer than need be.
void RecordDriver::leave_store() noexcept {
  if (!store_ || birth_ != fork_generation()) return;  // in a child of fork nothing of it is ours
  std::vector<RequestPtr> leaving;
  for (auto& [id, waiting] : waiting_) leaving.push_back(std::move(waiting.request));
  for (const auto& op : queue_)
    if (auto lease = op->frees()) leaving.push_back(std::move(lease));
  if (leaving.empty() && watching_.empty()) return;

  for (int tries = 0; tries < 10; ++tries) {
    try {
      auto begun = store_->begin(RecordStore::Access::write);
      if (!begun) return;
      if (*begun == RecordStore::Begun::busy) {
        std::this_thread::sleep_for(milliseconds(1));
        continue;
      }
    } catch (const std::exception&) {
      return;
    }
    std::vector<Hint> hints;
    try {
      LockModel model(*store_, self_, host_.clock.now(), host_.clock.wall(), hints);
      for (const auto& request : leaving) (void)model.release(*request);
      for (const auto& [id, watching] : watching_) model.unwatch(watching.cell, id);
    } catch (const std::exception&) {
      store_->rollback();
      return;
    }
    Failure why{errc::unavailable, {}};
    if (store_->commit(why) != RecordStore::Committed::no)
      for (const Hint& hint : hints)
        if (hint.client != self_.client) store_->ring(hint);
    return;
  }
}

}  // namespace holdfast::driver
