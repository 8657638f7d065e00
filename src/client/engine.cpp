#include "client/engine.hpp"

#include "base/name.hpp"
#include "client/compensation.hpp"
#include "client/engine_ask.hpp"
#include "driver/registry.hpp"

namespace holdfast::client {

namespace {

ClientOptions checked(ClientOptions options) {
  using namespace std::chrono_literals;
  if (options.request_timeout < 10ms || options.request_timeout > 1min)
    throw Error(errc::bad_argument, "ClientOptions::request_timeout must lie between 10ms and 1m");
  return options;
}

}  // namespace

std::shared_ptr<Engine> Engine::open(std::string_view text, ClientOptions options) {
  const Url url = Url::parse(text).take();
  return open(
      url.redacted(), [&url](driver::Host host) { return driver::open(url, std::move(host)); },
      std::move(options));
}

std::shared_ptr<Engine> Engine::open(std::string store, const DriverFactory& factory,
                                     ClientOptions options) {
  auto engine = std::make_shared<Engine>(std::move(store), std::move(options));
  std::optional<Failure> failure;
  Loop::Call call(engine->loop_);
  call.start([&] {
    auto driver = factory(engine->host());
    if (driver) {
      engine->driver_ = std::move(driver).value();
      engine->capabilities_ = engine->driver_->capabilities();
    } else {
      failure = driver.failure();
    }
    call.done();
  });
  call.wait();
  if (failure) failure->raise();
  engine->watchdog_.emplace([raw = engine.get()](Instant now) { return raw->bark(now); });
  return engine;
}

Engine::Engine(std::string store, ClientOptions options)
    : store_(std::move(store)), options_(checked(std::move(options))), born_(fork_generation()) {}

Engine::~Engine() { close(); }

driver::Host Engine::host() {
  return driver::Host{loop_, clock_, [this](const driver::Event& what) { event(what); },
                      [this](LogLevel level, std::string_view what, std::string_view resource,
                             std::string_view words) { log(level, what, resource, words); },
                      options_.request_timeout};
}

std::optional<Failure> Engine::unusable() const {
  if (forked())
    return Failure{errc::closed,
                   "this client was made before fork(2) and is dead in the child: make a new one"};
  if (loop_.on_loop())
    return Failure{errc::bad_argument,
                   "a blocking call inside a completion handler would wait for itself: "
                   "post it to an executor of your own"};
  return {};
}

Failure Engine::closed() const { return {errc::closed, "the client of " + store_ + " was closed"}; }

/// A driver knows neither what its caller does nor, with many requests in one step, on what.
std::string Engine::about(std::string_view what, std::string_view name,
                          std::string_view words) const {
  std::string all(what);
  if (!name.empty()) all.append(" ").append(quoted(name));
  return all.append(" on ").append(store_).append(": ").append(words);
}

void Engine::log(LogLevel level, std::string_view what, std::string_view resource,
                 std::string_view words) const noexcept {
  if (options_.log) options_.log(LogEntry{level, what, store_, resource, words});
}

void Engine::close() noexcept {
  if (forked()) return;
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
  }
  Signals signals;
  std::vector<driver::RequestPtr> to_release;
  {
    std::lock_guard lock(mutex_);
    for (Ticket* ticket = tickets_; ticket;) {
      Ticket* next = ticket->after;
      if (ticket->place == Ticket::Place::local_queue) {
        ticket->recipe->lane->waiting.erase(*ticket);
        finish(*ticket, closed());
      } else if (ticket->tenure) {
        to_release.push_back(Tenure::asked(ticket->tenure));  // it waits, or was granted just now
      }
      ticket = next;
    }
    keeper_.for_each([&](Tenure& tenure) {
      to_release.push_back(Tenure::asked(tenure.holds->shared_tenure()));
      lose(tenure, LossReason::client_closed, signals);
    });
  }
  send(std::move(signals));

  const auto destroy = [this] {
    keep_timer_.cancel();
    compensations_.clear();
    driver_.reset();
    for (Question* question = questions_; question;) {
      Question* next = question->after;
      question->abort();
      question = next;
    }
    std::lock_guard lock(mutex_);
    const Failure failure = closed();
    // What was not brought to the driver yet will find that there is none.
    for (Ticket* ticket = tickets_; ticket;) {
      Ticket* next = ticket->after;
      if (ticket->stood) finish(*ticket, failure);
      ticket = next;
    }
  };
  if (loop_.on_loop()) {
    destroy();
    loop_.drain();  // the handlers that were told just now
  } else {
    std::size_t open = to_release.size() + 1;
    Loop::Call releasing(loop_);
    const auto one_less = [&] {
      if (--open == 0) releasing.done();
    };
    releasing.start([&] {
      if (driver_)
        for (auto& request : to_release)
          driver_->release(std::move(request),
                           [&](const Result<driver::Released>&) { one_less(); });
      else
        open = 1;
      one_less();
    });
    (void)releasing.wait_until(clock_.now() + options_.request_timeout);
    Loop::Call destroying(loop_);
    destroying.start([&] {
      destroy();
      destroying.done();
    });
    destroying.wait();
    Loop::Call draining(loop_);  // the handlers that were told just now
    draining.start([&] { loop_.post([&] { draining.done(); }); });
    draining.wait();
  }
  if (watchdog_) watchdog_->stop();
  loop_.stop();
}

std::shared_ptr<const Recipe> Engine::recipe(std::vector<std::string> names, Mode mode,
                                             const LeaseOptions& options) {
  const auto refuse = [](errc code, std::string words) { throw Error(code, words); };
  if (forked()) unusable()->raise();
  const auto& can = capabilities_;
  const auto unsupported = [&](std::string_view what) {
    refuse(errc::unsupported,
           store_ + " cannot do " + std::string(what) + " (see `holdfast info`)");
  };
  auto recipe = std::make_shared<Recipe>();
  recipe->engine = shared_from_this();
  recipe->names = canonical_names(std::move(names)).take();
  for (const auto& name : recipe->names)
    if (auto wrong = check_name(name, can.max_name_bytes)) wrong->raise();
  if (recipe->names.size() > 1 && !can.several_names) unsupported("several names in one step");
  if (mode.kind == ModeKind::exclusive && !can.exclusive) unsupported("exclusive leases");
  if (mode.kind == ModeKind::shared && !can.shared) unsupported("shared leases");
  if (mode.kind == ModeKind::permits && !can.permits) unsupported("semaphores");
  if (mode.kind == ModeKind::permits && (mode.count == 0 || mode.count > mode.limit))
    refuse(errc::bad_argument,
           "a semaphore needs 1 or more permits, and no more can be taken at once than there are");
  recipe->mode = mode;
  if (options.ttl < can.min_ttl || options.ttl > can.max_ttl)
    refuse(errc::bad_argument, "LeaseOptions::ttl is " + std::to_string(options.ttl.count()) +
                                   "ms, but " + store_ + " takes " +
                                   std::to_string(can.min_ttl.count()) + "ms to " +
                                   std::to_string(can.max_ttl.count()) + "ms");
  recipe->ttl = options.ttl;
  if (options.max_hold < std::chrono::milliseconds::zero())
    refuse(errc::bad_argument, "LeaseOptions::max_hold is negative");
  recipe->max_hold = options.max_hold;
  recipe->auto_renew = options.auto_renew;
  recipe->stop_at = options.stop_at;
  if (auto wrong = check_text(options.owner, "owner", 128)) wrong->raise();
  if (auto wrong = check_text(options.note, "note", 256)) wrong->raise();
  recipe->owner = options.owner;
  recipe->note = options.note;
  recipe->reentrant = options.reentrant;
  const bool passable = mode.kind == ModeKind::exclusive && recipe->names.size() == 1;
  if (options.reentrant && (options.owner.empty() || !passable))
    refuse(errc::bad_argument, "LeaseOptions::reentrant needs an owner, and a mutex of one name");
  if (passable) {
    std::lock_guard lock(lanes_mutex_);
    auto& known = lanes_[recipe->names.front()];
    recipe->lane = known.lock();
    if (!recipe->lane) {
      // The last recipe or tenure takes the entry away, unless a new lane has the name by then.
      recipe->lane = std::shared_ptr<Lane>(
          new Lane, [weak = weak_from_this(), name = recipe->names.front()](Lane* lane) {
            delete lane;
            if (const auto engine = weak.lock(); engine && !engine->forked()) {
              std::lock_guard guard(engine->lanes_mutex_);
              const auto found = engine->lanes_.find(name);
              if (found != engine->lanes_.end() && found->second.expired())
                engine->lanes_.erase(found);
            }
          });
      known = recipe->lane;
    }
  }
  return recipe;
}

Metrics Engine::metrics() {
  if (forked()) return {};
  std::lock_guard lock(mutex_);
  metrics_.held = 0;
  keeper_.for_each([&](const Tenure& tenure) {
    for (const Hold* hold = tenure.holds; hold; hold = hold->beside_) ++metrics_.held;
  });
  return metrics_;
}

}  // namespace holdfast::client
