#include <stop_token>

#include "client/engine.hpp"

namespace holdfast::client {

namespace {

Failure busy(const Recipe& recipe) {
  return {errc::timeout,
          "'" + recipe.names.front() + "' is held or waited for by this client already"};
}

/// Would this request do with a lease that another one asked for?
bool interchangeable(const Recipe& a, const Recipe& b) {
  return a.owner.empty() && b.owner.empty() && a.ttl == b.ttl && a.auto_renew && b.auto_renew &&
         a.note == b.note;
}

}  // namespace

/// Deletes itself when it is finished, on the loop.
struct Engine::AsyncTicket final : Ticket {
  AsyncTicket(std::shared_ptr<Engine> owner, std::shared_ptr<const Recipe> from, Instant until,
              Instant begun, Done call)
      : Ticket(own_recipe, until, begun),
        own_recipe(std::move(from)),
        engine(std::move(owner)),
        done(std::move(call)),
        timer(engine->loop_) {}

  void finished() noexcept override {
    engine->loop_.post([this] {
      on_stop.reset();
      timer.cancel();
      const std::unique_ptr<AsyncTicket> self(this);
      if (result->ok()) return done(nullptr, std::move(*result).value());
      const Failure& failure = result->failure();
      if (failure.code == errc::timeout) return done(nullptr, std::nullopt);
      done(std::make_exception_ptr(Error(failure.code, failure.words)), std::nullopt);
    });
  }

  struct OnStop {
    AsyncTicket* ticket;
    void operator()() const noexcept { ticket->engine->cancel(*ticket); }
  };

  std::shared_ptr<const Recipe> own_recipe;
  std::shared_ptr<Engine> engine;
  Done done;
  Loop::Timer timer;  // ends the wait in the local queue; the driver ends that at the store
  std::optional<std::stop_callback<OnStop>> on_stop;
};

Result<Lease> Engine::acquire(const std::shared_ptr<const Recipe>& recipe, Instant deadline,
                              std::stop_token stop) {
  if (auto failure = unusable()) return *failure;
  BlockingTicket ticket(loop_, recipe, deadline, clock_.now());
  const auto begun = begin(ticket);
  if (begun != Begun::finished) {
    const auto on_stop = [this, &ticket] { cancel(ticket); };
    std::optional<std::stop_callback<decltype(on_stop)>> watch;
    if (stop.stop_possible()) watch.emplace(std::move(stop), on_stop);
    if (begun == Begun::to_store) ticket.call.start([this, &ticket] { stand(ticket); });
    if (!ticket.call.wait_until(begun == Begun::queued ? deadline : Instant::max())) {
      (void)leave_local_queue(ticket);
      ticket.call.wait();
    }
  }
  return std::move(*ticket.result);
}

void Engine::start_acquire(const std::shared_ptr<const Recipe>& recipe, Instant deadline,
                           std::stop_token stop, Done done) {
  if (forked()) throw Error(errc::closed, unusable()->words);
  std::unique_lock lock(mutex_);
  if (closed_) {  // nobody runs the loop any more
    lock.unlock();
    return done(std::make_exception_ptr(Error(errc::closed, closed().words)), std::nullopt);
  }
  auto* ticket =
      new AsyncTicket(shared_from_this(), recipe, deadline, clock_.now(), std::move(done));
  loop_.post([this, ticket, stop = std::move(stop)]() mutable {
    // On the loop until the end of this task, so that finished() cannot delete it meanwhile.
    const auto begun = begin(*ticket);
    if (begun == Begun::finished) return;
    if (stop.stop_possible()) ticket->on_stop.emplace(std::move(stop), AsyncTicket::OnStop{ticket});
    if (begun == Begun::to_store) return stand(*ticket);
    if (ticket->deadline != Instant::max())
      ticket->timer.arm(ticket->deadline, [this, ticket] { (void)leave_local_queue(*ticket); });
  });
}

Engine::Begun Engine::begin(Ticket& ticket) {
  const Recipe& recipe = *ticket.recipe;
  std::lock_guard lock(mutex_);
  ticket.after = tickets_;
  if (tickets_) tickets_->before = &ticket;
  tickets_ = &ticket;
  ++metrics_.waiting;
  if (closed_) {
    finish(ticket, closed());
    return Begun::finished;
  }
  if (Lane* lane = recipe.lane.get(); lane && lane->busy()) {
    if (const Tenure* holder = lane->holder; holder && recipe.reentrant && holder->holds) {
      const Hold& outer = *holder->holds;
      if (outer.recipe().reentrant && outer.recipe().owner == recipe.owner &&
          holder->at(clock_.now()) != Tenure::Standing::lost) {
        finish(ticket,
               seat(outer.tenure_, ticket, outer.token_offset_, outer.predecessor_, clock_.now()));
        return Begun::finished;
      }
    }
    if (ticket.deadline == Instant::min()) {
      finish(ticket, busy(recipe));
      return Begun::finished;
    }
    ticket.place = Ticket::Place::local_queue;
    lane->waiting.push_back(ticket);
    return Begun::queued;
  }
  send_to_store(ticket);
  return Begun::to_store;
}

void Engine::send_to_store(Ticket& ticket) {
  const Recipe& recipe = *ticket.recipe;
  Lane* const lane = recipe.lane.get();
  if (lane) lane->standing = &ticket;
  ticket.place = Ticket::Place::at_store;
  ticket.tenure = std::make_shared<Tenure>();
  ticket.tenure->lane = lane;
  driver::Request& request = ticket.tenure->request;
  request.id = Id::random();
  request.names = recipe.names;
  request.mode = recipe.mode;
  request.owner = recipe.owner;
  request.note = recipe.note;
  request.ttl = recipe.ttl;
  request.deadline = ticket.deadline;
  if (lane && !lane->waiting.empty() && options_.local_passes > 0) request.token_block = pass_block;
}

void Engine::stand(Ticket& ticket) {
  if (!driver_) return answered(ticket, closed());
  if (ticket.canceled.load())
    return answered(ticket, Failure{errc::canceled, "the wait was canceled"});
  ticket.stood = true;
  asking_ = true;
  driver_->acquire(Tenure::asked(ticket.tenure), [this, &ticket](Result<driver::Grant> answer) {
    answered(ticket, std::move(answer));
  });
  asking_ = false;
}

void Engine::answered(Ticket& ticket, Result<driver::Grant> answer) {
  // Answered within the call that asked: no time has passed that anybody waited for.
  const Instant now = std::exchange(asking_, false) && answer ? answer->basis : clock_.now();
  Lane* const lane = ticket.recipe->lane.get();
  if (answer && answer->basis + answer->ttl - drift_margin(answer->ttl) <= now) {
    // It answered so late that the lease is over for us: not ours, and not to be left behind.
    compensate(Tenure::asked(ticket.tenure), answer->basis + answer->ttl,
               Compensation::Until::answered);
    answer = Failure{errc::unavailable, "the answer of " + store_ +
                                            " came after the lease had ended; a longer TTL "
                                            "or a quicker store is needed"};
  }
  if (!answer) {
    Failure failure = answer.failure();
    if (failure.code == errc::unknown)
      compensate(Tenure::asked(ticket.tenure), now + ticket.recipe->ttl,
                 Compensation::Until::released);
    if (failure.code != errc::timeout)
      failure.words = about("acquire", ticket.recipe->names.front(), failure.words);
    std::lock_guard lock(mutex_);
    if (closed_) failure = closed();
    if (lane) {
      lane->standing = nullptr;
      post_stand(next_in(*lane));
    }
    return finish(ticket, std::move(failure));
  }

  Tenure& granted = *ticket.tenure;
  granted.tokens = std::move(answer->tokens);
  granted.token_block = answer->token_block;
  granted.auto_renew = ticket.recipe->auto_renew;
  granted.contended = answer->contended;
  granted.contended_since = now;
  granted.confirm(answer->basis, answer->ttl);
  const Instant renewal = Keeper::renewal_at(granted);
  const Instant verdict =
      std::min(Keeper::jeopardy_at(granted), Instant(Duration(granted.valid_until.load())));
  {
    std::lock_guard lock(mutex_);
    // Being closed: its close() releases what stands at the store.
    if (closed_) return finish(ticket, closed());
    const auto tenure = std::move(ticket.tenure);
    if (lane) {
      lane->standing = nullptr;
      lane->holder = tenure.get();
    }
    keeper_.add(*tenure);
    finish(ticket, seat(tenure, ticket, 0, answer->predecessor, now));
  }
  if (watchdog_) watchdog_->arm(verdict);
  if (renewal < keep_armed_) {
    keep_armed_ = renewal;
    keep_timer_.arm(renewal, [this] { keep(); });
  }
}

Lease Engine::seat(const std::shared_ptr<Tenure>& tenure, const Ticket& ticket,
                   std::uint32_t offset, Predecessor predecessor, Instant now) {
  metrics_.wait.add(now - ticket.started);
  auto hold = std::make_shared<Hold>(tenure, ticket.recipe, offset, predecessor, now);
  if (!tenure->holds) {  // by re-entry the limit of the first goes on
    const auto limit = ticket.recipe->max_hold == Duration::zero() ? Instant::max()
                                                                   : now + ticket.recipe->max_hold;
    tenure->hold_limit.store(limit.time_since_epoch().count());
    tenure->bound();
    if (limit != Instant::max() && watchdog_) watchdog_->arm(limit);
  }
  hold->beside_ = tenure->holds;
  tenure->holds = hold.get();
  ++metrics_.acquired;
  return Hold::lease(std::move(hold));
}

Ticket* Engine::next_in(Lane& lane) {
  if (lane.waiting.empty()) return nullptr;
  Ticket* ticket = &lane.waiting.front();
  lane.waiting.erase(*ticket);
  send_to_store(*ticket);
  return ticket;
}

void Engine::post_stand(Ticket* ticket) {
  if (!ticket) return;
  if (closed_) {
    ticket->recipe->lane->standing = nullptr;
    return finish(*ticket, closed());
  }
  loop_.post([this, ticket] { stand(*ticket); });
}

void Engine::cancel(Ticket& ticket) {
  std::lock_guard lock(mutex_);
  ticket.canceled = true;
  if (ticket.place == Ticket::Place::local_queue) {
    ticket.recipe->lane->waiting.erase(ticket);
    finish(ticket, Failure{errc::canceled,
                           "the wait for '" + ticket.recipe->names.front() + "' was canceled"});
  } else if (ticket.place == Ticket::Place::at_store && ticket.tenure) {
    loop_.post([this, request = Tenure::asked(ticket.tenure)] {
      if (driver_) driver_->cancel(request);
    });
  }
}

bool Engine::leave_local_queue(Ticket& ticket) {
  std::lock_guard lock(mutex_);
  if (ticket.place != Ticket::Place::local_queue) return false;
  ticket.recipe->lane->waiting.erase(ticket);
  finish(ticket, busy(*ticket.recipe));
  return true;
}

void Engine::finish(Ticket& ticket, Result<Lease> result) {
  (ticket.before ? ticket.before->after : tickets_) = ticket.after;
  if (ticket.after) ticket.after->before = ticket.before;
  ticket.place = Ticket::Place::finished;
  --metrics_.waiting;
  if (!result) {
    switch (result.failure().code) {
      case errc::timeout:
        ++metrics_.timed_out;
        break;
      case errc::canceled:
        ++metrics_.canceled;
        break;
      case errc::unknown:
        ++metrics_.unknown;
        [[fallthrough]];
      default:
        ++metrics_.failed;
    }
  }
  ticket.result.emplace(std::move(result));
  ticket.finished();
}

bool Engine::pass(const Hold& from, Instant now) {
  Tenure& tenure = *from.tenure_;
  Lane* lane = tenure.lane;
  if (!lane || lane->waiting.empty() || closed_) return false;
  Ticket& next = lane->waiting.front();
  if (!may_pass(tenure, now, options_) || !interchangeable(*next.recipe, from.recipe()))
    return false;
  lane->waiting.erase(next);
  if (tenure.contended) ++tenure.passes;
  ++metrics_.local_passes;
  finish(next, seat(from.tenure_, next, tenure.tokens_used++, Predecessor::released, now));
  return true;
}

}  // namespace holdfast::client
