#include "driver/record/record_ops.hpp"

#include "base/name.hpp"

namespace holdfast::driver {

using Standing = LockModel::Standing;

namespace {

/// A handed-over lease counts from the transaction that told us, not from the one that granted it.
void count_from(std::optional<Result<Standing>>& result, Instant basis) {
  if (result->ok() && (*result)->grant) (*result)->grant->basis = basis;
}

[[nodiscard]] bool still_queued(const std::optional<Result<Standing>>& result) {
  return result && result->ok() && !(*result)->grant;
}

}  // namespace

void RecordDriver::Acquire::apply(Step& step) {
  result.emplace(step.model.acquire(*request, request->deadline > step.now));
  count_from(result, step.basis);
}

void RecordDriver::Acquire::revisit(Step& step) {
  if (!still_queued(result)) return;
  result.emplace(step.model.look(*request));
  count_from(result, step.basis);
}

void RecordDriver::Acquire::accept(RecordDriver& driver) {
  if (!result->ok()) return;
  if ((*result)->grant)
    driver.hold(request, *(*result)->grant);
  else
    driver.wait(request, std::move(handler), **result);
}

void RecordDriver::Acquire::finish(RecordDriver&) {
  if (!result->ok())
    handler(result->failure());
  else if ((*result)->grant)
    handler(*std::move((*result)->grant));
}

void RecordDriver::Acquire::fail(RecordDriver&, const Failure& why) { handler(why); }

void RecordDriver::Check::apply(Step& step) {
  result.reset();
  // Resolved meanwhile, or about to leave the queue: it must not enter it again.
  const auto found = step.driver.waiting_.find(request->id);
  if (found == step.driver.waiting_.end() || found->second.leaving) return;
  if (heartbeat)
    result.emplace(step.model.acquire(*request, true, true));
  else
    result.emplace(step.model.look(*request));
  count_from(result, step.basis);
}

void RecordDriver::Check::revisit(Step& step) {
  if (!still_queued(result)) return;
  result.emplace(step.model.look(*request));
  count_from(result, step.basis);
}

void RecordDriver::Check::accept(RecordDriver& driver) {
  if (!result) return;
  if (!result->ok()) {
    handler = driver.stop_waiting(request->id);
  } else if ((*result)->grant) {
    handler = driver.stop_waiting(request->id);
    if (handler) driver.hold(request, *(*result)->grant);
  } else if (const auto found = driver.waiting_.find(request->id);
             found != driver.waiting_.end() && heartbeat) {
    driver.still_waiting(found->second, **result);
  }
}

void RecordDriver::Check::finish(RecordDriver& driver) {
  if (!result) return;
  if (handler) {
    if (result->ok())
      handler(*std::move((*result)->grant));
    else
      handler(result->failure());
  } else if (still_queued(result) && !(*result)->queued && !heartbeat) {
    driver.submit(Check(request, true));  // nowhere: queue again
  }
}

void RecordDriver::Check::fail(RecordDriver& driver, const Failure& why) {
  if (heartbeat) driver.heartbeat_failed(request->id, why);
}

void RecordDriver::Withdraw::apply(Step& step) {
  if (code == errc::timeout) words = step.model.blockers(*request);
  grant = step.model.withdraw(*request);
  if (grant) grant->basis = step.basis;
}

void RecordDriver::Withdraw::accept(RecordDriver& driver) {
  handler = driver.stop_waiting(request->id);
  if (handler && grant) driver.hold(request, *grant);
}

void RecordDriver::Withdraw::finish(RecordDriver&) {
  if (!handler) return;
  if (grant)
    handler(*std::move(grant));
  else if (code == errc::timeout)
    handler(Failure{code, "the wait ended: " + words});
  else
    handler(Failure{code, "the wait for " + quoted(request->names.front()) + " was canceled"});
}

void RecordDriver::Withdraw::fail(RecordDriver& driver, const Failure& why) {
  // Its entry is still there, for a while: the client cleans up what is unknown.
  if (auto waiter = driver.stop_waiting(request->id))
    waiter(Failure{errc::unknown, "the wait for " + quoted(request->names.front()) +
                                      " has ended, but could not be withdrawn: " + why.words});
}

void RecordDriver::Renew::apply(Step& step) {
  for (std::size_t i = first; i < last; ++i) {
    batch->renewals[i] = step.model.renew(*batch->leases[i]);
    batch->renewals[i].basis = step.basis;
  }
}

void RecordDriver::Renew::accept(RecordDriver& driver) {
  for (std::size_t i = first; i < last; ++i) {
    const auto found = driver.held_.find(batch->leases[i]->id);
    if (found == driver.held_.end()) continue;
    const Renewal& renewal = batch->renewals[i];
    if (renewal.outcome == Renewal::Outcome::renewed)
      found->second.until = renewal.basis + renewal.ttl;
    else
      driver.held_.erase(found);
  }
}

void RecordDriver::Renew::finish(RecordDriver&) {
  if (++batch->answered == batch->parts) batch->handler(std::move(batch->renewals));
}

void RecordDriver::Renew::fail(RecordDriver& driver, const Failure& why) {
  for (std::size_t i = first; i < last; ++i) batch->renewals[i] = {};
  if (++batch->failed < batch->parts) return finish(driver);
  batch->handler(why);  // none of the parts went through
}

void RecordDriver::Release::apply(Step& step) { outcome = step.model.release(*lease); }

void RecordDriver::Release::finish(RecordDriver& driver) {
  if (auto waiter = driver.stop_waiting(lease->id))
    waiter(Failure{errc::canceled, "released while it waited"});
  if (handler) handler(outcome);
}

void RecordDriver::Release::fail(RecordDriver&, const Failure& why) {
  if (handler) handler(why);
}

void RecordDriver::Verify::apply(Step& step) { reason = step.model.lost(*lease); }

void RecordDriver::Verify::finish(RecordDriver& driver) {
  if (reason && *reason != LossReason::none) driver.report_lost(lease->id, *reason);
}

void RecordDriver::Watch::apply(Step& step) {
  value.reset();
  const auto found = step.driver.watching_.find(id);
  if (found == step.driver.watching_.end()) return;
  const Watching& watching = found->second;
  if (!last) {
    value = step.model.watch(watching.cell, watching.since, id);
    return;
  }
  if (auto newest = step.model.read(watching.cell); newest.version > watching.since)
    value = std::move(newest);
  step.model.unwatch(watching.cell, id);
}

void RecordDriver::Watch::finish(RecordDriver& driver) {
  const auto found = driver.watching_.find(id);
  if (found == driver.watching_.end()) return;
  if (value) {
    driver.finish_watch(id, *std::move(value));
  } else if (last) {
    driver.finish_watch(id, Failure{errc::timeout, "the cell " + quoted(found->second.cell) +
                                                       " was not written in time"});
  } else {
    Watching& watching = found->second;
    watching.asked = false;
    watching.refresh = driver.host_.clock.now() + LockModel::watch_window / 3;
    driver.schedule(due(watching));
  }
}

void RecordDriver::Watch::fail(RecordDriver& driver, const Failure& why) {
  driver.finish_watch(id, why);
}

}  // namespace holdfast::driver
