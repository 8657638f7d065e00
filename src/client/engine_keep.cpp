#include "client/engine.hpp"
#include "client/engine_ask.hpp"

namespace holdfast::client {

void Engine::keep() {
  keep_armed_ = Instant::max();
  if (!driver_) return;
  std::vector<std::shared_ptr<Tenure>> batch;
  Instant next;
  {
    std::lock_guard lock(mutex_);
    for (const Tenure* tenure : keeper_.due(clock_.now()))
      batch.push_back(tenure->holds->shared_tenure());  // somebody sits on what is kept
    next = keeper_.next_renewal();
  }
  if (next != Instant::max()) {
    keep_armed_ = next;
    keep_timer_.arm(next, [this] { keep(); });
  }
  if (batch.empty()) return;
  std::vector<driver::RequestPtr> requests;
  requests.reserve(batch.size());
  for (const auto& tenure : batch) requests.push_back(Tenure::asked(tenure));
  driver_->renew(std::move(requests), [this, batch = std::move(batch)](
                                          Result<std::vector<driver::Renewal>> answer) mutable {
    renewals(std::move(batch), std::move(answer));
    keep();
  });
}

void Engine::renewals(std::vector<std::shared_ptr<Tenure>> batch,
                      Result<std::vector<driver::Renewal>> answer) {
  Signals signals;
  {
    std::lock_guard lock(mutex_);
    const Instant now = clock_.now();
    if (!answer) {
      signals.push_back([this, words = answer.failure().words] {
        log(LogLevel::warning, "renewal_failed", {}, words);
      });
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      Tenure& tenure = *batch[i];
      tenure.renewing = false;
      if (!tenure.kept) continue;  // released or lost meanwhile
      static const driver::Renewal none;
      const auto& renewal = answer ? (*answer)[i] : none;
      switch (renewal.outcome) {
        case driver::Renewal::Outcome::renewed:
          ++metrics_.renewals;
          metrics_.renewal_slack.add(Instant(Duration(tenure.valid_until.load())) - now);
          if (tenure.at(now) == Tenure::Standing::lost)
            break;  // too late: the watchdog will say so
          keeper_.renewed(tenure, renewal.basis, renewal.ttl);
          if (renewal.contended) wanted(tenure, now);
          break;
        case driver::Renewal::Outcome::gone:
          lose(tenure, renewal.reason == LossReason::none ? LossReason::expired : renewal.reason,
               signals);
          break;
        case driver::Renewal::Outcome::failed:
          ++metrics_.renewal_failures;
          keeper_.failed(tenure, now);
          doubt(tenure, signals);
          break;
      }
    }
  }
  send(std::move(signals));
}

void Engine::wanted(Tenure& tenure, Instant now) {
  if (tenure.contended) return;
  tenure.contended = true;
  tenure.contended_since = now;
  tenure.passes = 0;
}

void Engine::lose(Tenure& tenure, LossReason reason, Signals& signals) {
  if (tenure.standing.load() == Tenure::Standing::lost) return;
  tenure.reason.store(reason, std::memory_order_release);
  tenure.standing.store(Tenure::Standing::lost, std::memory_order_release);
  keeper_.remove(tenure);
  ++metrics_.lost[static_cast<std::size_t>(reason)];
  for (Hold* hold = tenure.holds; hold; hold = hold->beside_) {
    if (hold->stop_) signals.push_back([stop = *hold->stop_]() mutable { stop.request_stop(); });
    for (auto& callback : hold->on_loss_)
      signals.push_back([callback = std::move(callback), reason] { callback(reason); });
    hold->on_loss_.clear();
    hold->on_jeopardy_.clear();
  }
  if (options_.log)
    signals.push_back([this, name = tenure.request.names.front(), reason] {
      log(LogLevel::warning, "lease_lost", name,
          "the lease was lost: " + std::string(to_string(reason)));
    });
  if (Lane* lane = tenure.lane; lane && lane->holder == &tenure) {
    lane->holder = nullptr;
    post_stand(next_in(*lane));
  }
}

void Engine::doubt(Tenure& tenure, Signals& signals) {
  if (tenure.standing.load() != Tenure::Standing::held) return;
  tenure.standing.store(Tenure::Standing::doubtful, std::memory_order_release);
  ++metrics_.jeopardies;
  for (Hold* hold = tenure.holds; hold; hold = hold->beside_) {
    if (hold->stop_ && hold->recipe_->stop_at == StopAt::doubt)
      signals.push_back([stop = *hold->stop_]() mutable { stop.request_stop(); });
    for (const auto& callback : hold->on_jeopardy_) signals.push_back([callback] { callback(); });
  }
}

Instant Engine::bark(Instant now) {
  const auto self = weak_from_this().lock();  // a callback may destroy the client
  Signals signals;
  bool doubtful = false;
  {
    std::lock_guard lock(mutex_);
    const auto verdicts = keeper_.judge(now);
    for (Tenure* tenure : verdicts.lost) lose(*tenure, tenure->loss_reason(), signals);
    for (Tenure* tenure : verdicts.doubtful) doubt(*tenure, signals);
    doubtful = !verdicts.doubtful.empty();
    // Those sent by other threads come first: they happened before.
    signals_.insert(signals_.end(), std::make_move_iterator(signals.begin()),
                    std::make_move_iterator(signals.end()));
    signals = std::exchange(signals_, {});
  }
  if (doubtful) loop_.post([this] { keep(); });  // after a pause of the process: at once
  while (!signals.empty()) {
    for (Task& signal : signals) signal();
    std::lock_guard lock(mutex_);
    signals = std::exchange(signals_, {});  // also what a callback set off by closing the client
  }
  std::lock_guard lock(mutex_);
  return signals_.empty() ? keeper_.next_verdict() : Instant::min();
}

void Engine::event(const driver::Event& what) {
  Signals signals;
  {
    std::lock_guard lock(mutex_);
    const Instant now = clock_.now();
    keeper_.for_each([&](Tenure& tenure) {
      if (what.kind == driver::Event::Kind::doubtful) return doubt(tenure, signals);
      if (tenure.request.id != what.lease) return;
      if (what.kind == driver::Event::Kind::wanted)
        wanted(tenure, now);
      else
        lose(tenure, what.reason, signals);
    });
  }
  send(std::move(signals));
}

void Engine::send(Signals signals) {
  if (signals.empty()) return;
  {
    std::lock_guard lock(mutex_);
    signals_.insert(signals_.end(), std::make_move_iterator(signals.begin()),
                    std::make_move_iterator(signals.end()));
  }
  if (watchdog_) watchdog_->arm(Instant::min());
}

std::stop_token Engine::stop_token(Hold& hold) {
  std::unique_lock lock(mutex_);
  if (!hold.stop_) hold.stop_.emplace();
  std::stop_source source = *hold.stop_;
  lock.unlock();
  const LeaseState state = hold.state();
  if (state == LeaseState::lost ||
      (state == LeaseState::doubtful && hold.recipe_->stop_at == StopAt::doubt))
    source.request_stop();
  return source.get_token();
}

void Engine::on_loss(Hold& hold, std::function<void(LossReason)> callback) {
  Signals signals;
  {
    std::lock_guard lock(mutex_);
    if (hold.seat_.load() != Hold::Seat::seated) return;
    if (hold.tenure_->standing.load() != Tenure::Standing::lost) {
      hold.on_loss_.push_back(std::move(callback));
      return;
    }
    signals.push_back([callback = std::move(callback), reason = hold.tenure_->loss_reason()] {
      callback(reason);
    });
  }
  send(std::move(signals));
}

void Engine::on_jeopardy(Hold& hold, std::function<void()> callback) {
  std::lock_guard lock(mutex_);
  if (hold.seat_.load() == Hold::Seat::seated) hold.on_jeopardy_.push_back(std::move(callback));
}

std::optional<Failure> Engine::renew(Hold& hold) {
  const auto lost = [&] {
    return Failure{errc::lost, "the lease on '" + hold.request().names.front() + "' is over (" +
                                   std::string(to_string(hold.reason())) + ")"};
  };
  const auto over = [&] {
    const auto state = hold.state();
    return state == LeaseState::lost || state == LeaseState::released;
  };
  if (over()) return lost();
  std::vector<std::shared_ptr<Tenure>> batch{hold.tenure_};
  auto answer = ask<std::vector<driver::Renewal>>(
      "renew", hold.request().names.front(),
      [&](auto handler) { driver_->renew({Tenure::asked(hold.tenure_)}, std::move(handler)); });
  std::optional<Failure> failure;
  if (!answer)
    failure = answer.failure();
  else if (answer->front().outcome == driver::Renewal::Outcome::failed)
    failure = Failure{errc::unavailable, store_ + " did not renew the lease"};
  renewals(std::move(batch), std::move(answer));
  return over() ? lost() : failure;
}

std::optional<Failure> Engine::downgrade(Hold& hold) {
  auto request = std::make_shared<driver::Request>(hold.request());
  if (request->mode.kind != ModeKind::exclusive || !capabilities_.shared)
    return Failure{errc::unsupported,
                   "only an exclusive lease of a store with shared leases can be downgraded"};
  request->mode = Mode{ModeKind::shared};
  request->deadline = Instant::min();
  {
    // What is shared cannot be passed to a local waiter: those go to the store from now on.
    std::lock_guard lock(mutex_);
    Tenure& tenure = *hold.tenure_;
    if (Lane* lane = tenure.lane; lane && lane->holder == &tenure) {
      lane->holder = nullptr;
      post_stand(next_in(*lane));
    }
    tenure.lane = nullptr;
  }
  auto answer = ask<driver::Grant>("downgrade", request->names.front(), [&](auto handler) {
    driver_->acquire(request, std::move(handler));
  });
  if (answer) return {};
  return answer.failure();
}

}  // namespace holdfast::client
