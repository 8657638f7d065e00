#include <algorithm>

#include "client/compensation.hpp"
#include "client/engine.hpp"
#include "client/engine_ask.hpp"

namespace holdfast::client {

Engine::Leaving Engine::unseat(Hold& hold) {
  Tenure& tenure = *hold.tenure_;
  Leaving leaving;
  std::unique_lock lock(mutex_);
  leaving.until = tenure.basis + tenure.ttl;
  switch (hold.seat_.load()) {
    case Hold::Seat::released:
      leaving.outcome = ReleaseOutcome::released;
      return leaving;
    case Hold::Seat::lost:
      leaving.outcome = ReleaseOutcome::already_lost;
      return leaving;
    case Hold::Seat::unconfirmed:
      leaving.at_store = true;
      return leaving;
    case Hold::Seat::seated:
      break;
  }
  const Instant now = clock_.now();
  metrics_.hold.add(now - hold.since_);
  const bool lost = tenure.at(now) == Tenure::Standing::lost;
  Signals signals;
  if (lost && tenure.kept) lose(tenure, tenure.loss_reason(), signals);  // before the watchdog
  Hold** link = &tenure.holds;
  while (*link != &hold) link = &(*link)->beside_;
  *link = hold.beside_;
  if (lost) {
    hold.seat_.store(Hold::Seat::lost);
    leaving.outcome = ReleaseOutcome::already_lost;
    // The store may still have it (a hold limit, other names of a set); now its holder has stopped.
    if (!tenure.holds) leaving.at_store = true;
    lock.unlock();
    send(std::move(signals));
    return leaving;
  }
  ++metrics_.released;
  hold.seat_.store(Hold::Seat::released);
  if (tenure.holds || pass(hold, now)) {
    leaving.outcome = ReleaseOutcome::released;
    return leaving;
  }
  keeper_.remove(tenure);
  if (Lane* lane = tenure.lane) {
    lane->holder = nullptr;
    leaving.next = next_in(*lane);
  }
  leaving.at_store = true;
  return leaving;
}

ReleaseOutcome Engine::release(Hold& hold) noexcept {
  if (forked()) return ReleaseOutcome::already_lost;
  Leaving leaving = unseat(hold);
  if (!leaving.at_store) return *leaving.outcome;
  if (leaving.outcome || loop_.on_loop()) {
    depart(hold.tenure_, leaving);
    return leaving.outcome.value_or(ReleaseOutcome::unknown);
  }
  bool asked = false;
  const auto answer = ask<driver::Released>(
      "release", hold.request().names.front(), [&](driver::Handler<driver::Released> handler) {
        asked = true;
        // Copies: once the store has answered, the caller may have gone, and this closure with it.
        Engine* const engine = this;
        Ticket* const next = leaving.next;
        driver_->release(Tenure::asked(hold.tenure_), std::move(handler));
        if (next) engine->stand(*next);  // shares the release's transaction where the store batches
      });
  if (!asked) {
    std::lock_guard lock(mutex_);
    post_stand(leaving.next);
  }
  if (answer) {
    const bool ours = answer.value() == driver::Released::released;
    hold.seat_.store(ours ? Hold::Seat::released : Hold::Seat::lost);
    return ours ? ReleaseOutcome::released : ReleaseOutcome::already_lost;
  }
  hold.seat_.store(Hold::Seat::unconfirmed);
  loop_.post([this, tenure = hold.tenure_, until = leaving.until] {
    compensate(Tenure::asked(tenure), until, Compensation::Until::answered);
  });
  return ReleaseOutcome::unknown;
}

void Engine::release_detached(Hold& hold) noexcept {
  Leaving leaving = unseat(hold);
  if (leaving.at_store) depart(hold.tenure_, leaving);
}

void Engine::depart(const std::shared_ptr<Tenure>& tenure, const Leaving& leaving) {
  Task task = [self = shared_from_this(), tenure, until = leaving.until, next = leaving.next] {
    if (self->driver_)
      self->driver_->release(Tenure::asked(tenure), [engine = self.get(), tenure, until](
                                                        const Result<driver::Released>& answer) {
        if (!answer)
          engine->compensate(Tenure::asked(tenure), until, Compensation::Until::answered);
      });
    if (next) self->stand(*next);
  };
  if (!loop_.try_run(task)) loop_.post(std::move(task));
}

void Engine::compensate(driver::RequestPtr request, Instant until, Compensation::Until proof) {
  if (!driver_ || !request) return;
  auto& place = compensations_[request->id];
  if (place) return;  // going on already
  const Id id = request->id;
  place =
      std::make_unique<Compensation>(loop_, *driver_, std::move(request), until, proof, [this, id] {
        // From within the compensation: gone only after this step.
        loop_.post([this, id] { compensations_.erase(id); });
      });
  place->start();
}

}  // namespace holdfast::client
