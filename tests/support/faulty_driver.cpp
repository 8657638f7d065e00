#include "support/faulty_driver.hpp"

#include <algorithm>
#include <list>

#include "client/engine.hpp"
#include "driver/registry.hpp"

namespace holdfast::test {

using driver::Driver;
using driver::Grant;
using driver::Handler;
using driver::Host;
using driver::Released;
using driver::Renewal;
using driver::RequestPtr;
using Kind = Fault::Kind;

namespace {
class FaultyDriver;
}

class Faults::Hub {
 public:
  struct Plan {
    std::deque<Fault> next;
    Fault always;
  };

  mutable std::mutex mutex;
  mutable std::condition_variable called;
  std::array<Plan, step_count> plans;
  std::vector<Call> calls;
  bool muted = false;
  std::vector<FaultyDriver*> drivers;

  static bool concerns(const Fault& fault, const std::vector<RequestPtr>& requests) {
    return fault.name.empty() || std::ranges::any_of(requests, [&](const RequestPtr& request) {
             return std::ranges::find(request->names, fault.name) != request->names.end();
           });
  }

  /// Records a call and says what is to happen to it.
  std::pair<Fault, std::size_t> enter(Step step, std::vector<RequestPtr> requests) {
    const std::lock_guard lock(mutex);
    Plan& plan = plans[static_cast<std::size_t>(step)];
    Fault fault = concerns(plan.always, requests) ? plan.always : Fault{};
    const auto found = std::ranges::find_if(
        plan.next, [&](const Fault& next) { return concerns(next, requests); });
    if (found != plan.next.end()) {
      fault = *found;
      plan.next.erase(found);
    }
    calls.push_back({step, boot_clock::now(), std::move(requests), std::nullopt});
    called.notify_all();
    return {fault, calls.size() - 1};
  }

  void answered(std::size_t call) {
    const std::lock_guard lock(mutex);
    if (!calls[call].answered) calls[call].answered = boot_clock::now();
  }
};

namespace {

/// Stands between a client and the driver of its store. Lives on the client's loop, as each driver.
class FaultyDriver final : public Driver {
 public:
  FaultyDriver(std::shared_ptr<Faults::Hub> hub, Host host)
      : hub_(std::move(hub)), host_(std::make_shared<Host>(std::move(host))) {}

  ~FaultyDriver() override {
    const std::lock_guard lock(hub_->mutex);
    std::erase(hub_->drivers, this);
  }

  std::optional<Failure> open(const Url& store) {
    auto opened = driver::open(
        store,
        Host{host_->loop, host_->clock,
             [this](const driver::Event& event) {
               if (!muted()) host_->event(event);
             },
             [host = host_](LogLevel level, std::string_view event, std::string_view resource,
                            std::string_view words) { host->log(level, event, resource, words); },
             host_->request_timeout});
    if (!opened) return opened.failure();
    store_ = std::move(opened).take();
    const std::lock_guard lock(hub_->mutex);
    hub_->drivers.push_back(this);
    return std::nullopt;
  }

  // Called with the hub locked, from any thread.
  void post(UniqueFunction<void(FaultyDriver&)> task) {
    host_->loop.post([weak = std::weak_ptr(alive_), task = std::move(task)]() mutable {
      if (const auto alive = weak.lock()) task(**alive);
    });
  }

  void let_go() {
    for (std::list<Held> going = std::move(held_); auto& held : going) {
      held.timer.reset();
      held.go();
    }
  }
  void tell(const driver::Event& event) { host_->event(event); }

  const Capabilities& capabilities() const noexcept override { return store_->capabilities(); }

  void acquire(RequestPtr request, Handler<Grant> handler) override {
    run<Grant>(Step::acquire, {request}, std::move(handler), [this, request](Handler<Grant> reply) {
      store_->acquire(request, std::move(reply));
    });
  }

  void cancel(const RequestPtr& request) override {
    const auto held = std::ranges::find_if(
        held_, [&](const Held& waiting) { return waiting.request == request && waiting.unsent; });
    if (held == held_.end()) return store_->cancel(request);
    const auto canceled = std::move(held->unsent);
    held_.erase(held);
    (*canceled)();
  }

  void renew(std::vector<RequestPtr> leases, Handler<std::vector<Renewal>> handler) override {
    run<std::vector<Renewal>>(Step::renew, leases, std::move(handler),
                              [this, leases](Handler<std::vector<Renewal>> reply) {
                                store_->renew(leases, std::move(reply));
                              });
  }

  void release(RequestPtr lease, Handler<Released> handler) override {
    run<Released>(
        Step::release, {lease}, std::move(handler),
        [this, lease](Handler<Released> reply) { store_->release(lease, std::move(reply)); });
  }

  void inspect(std::string name, Handler<ResourceInfo> handler) override {
    run<ResourceInfo>(
        Step::inspect, {}, std::move(handler),
        [this, name](Handler<ResourceInfo> reply) { store_->inspect(name, std::move(reply)); });
  }
  void list(std::string prefix, std::size_t limit,
            Handler<std::vector<ResourceInfo>> handler) override {
    run<std::vector<ResourceInfo>>(Step::list, {}, std::move(handler),
                                   [this, prefix, limit](Handler<std::vector<ResourceInfo>> reply) {
                                     store_->list(prefix, limit, std::move(reply));
                                   });
  }
  void revoke(std::string name, Handler<std::size_t> handler) override {
    run<std::size_t>(
        Step::revoke, {}, std::move(handler),
        [this, name](Handler<std::size_t> reply) { store_->revoke(name, std::move(reply)); });
  }
  void read(std::string cell, Handler<CellValue> handler) override {
    run<CellValue>(Step::read, {}, std::move(handler), [this, cell](Handler<CellValue> reply) {
      store_->read(cell, std::move(reply));
    });
  }
  void write(std::string cell, std::string value, std::uint64_t expected,
             Handler<std::uint64_t> handler) override {
    run<std::uint64_t>(Step::write, {}, std::move(handler),
                       [this, cell, value, expected](Handler<std::uint64_t> reply) {
                         store_->write(cell, value, expected, std::move(reply));
                       });
  }
  void watch(std::string cell, std::uint64_t since, Instant deadline,
             Handler<CellValue> handler) override {
    run<CellValue>(Step::watch, {}, std::move(handler),
                   [this, cell, since, deadline](Handler<CellValue> reply) {
                     store_->watch(cell, since, deadline, std::move(reply));
                   });
  }

 private:
  /// The client's handler, called once, whoever comes first.
  template <class T>
  struct Once {
    Handler<T> handler;
    void give(Result<T> result) {
      if (auto call = std::exchange(handler, nullptr)) call(std::move(result));
    }
  };

  struct Held {
    RequestPtr request;
    Task go;
    std::unique_ptr<Task>
        unsent;  ///< what to do when the client cancels it, if the store has not got it
    std::unique_ptr<Loop::Timer> timer;
  };

  bool muted() const {
    const std::lock_guard lock(hub_->mutex);
    return hub_->muted;
  }

  static Failure failure(errc code) { return {code, "the fault that the test asked for"}; }

  template <class T, class Send>
  void run(Step step, std::vector<RequestPtr> requests, Handler<T> handler, Send send) {
    const auto [fault, call] = hub_->enter(step, requests);
    if constexpr (std::is_same_v<T, std::vector<Renewal>>)
      if (!fault.name.empty() && fault.kind == Kind::refuse)
        return renew_others(fault.name, std::move(requests), std::move(handler));
    auto once = std::make_shared<Once<T>>(std::move(handler));
    const auto forward = [hub = hub_, once, number = call](Result<T> result) {
      hub->answered(number);
      once->give(std::move(result));
    };
    const RequestPtr request = requests.empty() ? nullptr : requests.front();
    switch (fault.kind) {
      case Kind::none:
        return send(forward);
      case Kind::refuse:
        return host_->loop.post([weak = std::weak_ptr(alive_), once, code = fault.code] {
          if (weak.lock()) once->give(failure(code));
        });
      case Kind::lose_reply:
        return send([hub = hub_, once, number = call, code = fault.code](Result<T>) {
          hub->answered(number);
          once->give(failure(code));
        });
      case Kind::duplicate:
        send(forward);
        return send(forward);
      case Kind::hold_request:
        return hold(request, once, fault.endless, [send, forward] { send(forward); }, true);
      case Kind::hold_reply:
        return send([this, request, once, forward, hub = hub_, number = call,
                     endless = fault.endless](Result<T> result) {
          hub->answered(number);
          hold(
              request, once, endless,
              [forward, result = std::move(result)]() mutable { forward(std::move(result)); },
              false);
        });
    }
  }

  template <class T>
  void hold(RequestPtr request, std::shared_ptr<Once<T>> once, bool endless, Task go, bool unsent) {
    Held& held = held_.emplace_back(Held{std::move(request), std::move(go), nullptr, nullptr});
    if (unsent)
      held.unsent = std::make_unique<Task>([once] { once->give(failure(errc::canceled)); });
    if (endless) return;
    held.timer = std::make_unique<Loop::Timer>(host_->loop);
    held.timer->arm(boot_clock::now() + host_->request_timeout,
                    [once] { once->give(failure(errc::unknown)); });
  }

  /// Renews those that do not have the name; the others fail.
  void renew_others(const std::string& name, std::vector<RequestPtr> leases,
                    Handler<std::vector<Renewal>> handler) {
    std::vector<bool> passed;
    std::vector<RequestPtr> others;
    for (auto& lease : leases) {
      passed.push_back(std::ranges::find(lease->names, name) == lease->names.end());
      if (passed.back()) others.push_back(std::move(lease));
    }
    store_->renew(std::move(others), [passed = std::move(passed), handler = std::move(handler)](
                                         Result<std::vector<Renewal>> result) mutable {
      if (!result) return handler(std::move(result));
      std::vector<Renewal> all;
      auto next = result->begin();
      for (const bool pass : passed) all.push_back(pass ? *next++ : Renewal{});
      handler(std::move(all));
    });
  }

  std::shared_ptr<Faults::Hub> hub_;
  std::shared_ptr<Host> host_;
  std::shared_ptr<FaultyDriver*> alive_ = std::make_shared<FaultyDriver*>(this);
  std::list<Held> held_;
  std::unique_ptr<Driver> store_;  // the first to go: it still calls what stands above
};

}  // namespace

Faults::Faults() : hub_(std::make_shared<Hub>()) {}

Client Faults::client(const std::string& store_url, ClientOptions options) const {
  const auto factory = [&](Host host) -> Result<std::unique_ptr<Driver>> {
    auto store = Url::parse(store_url);
    if (!store) return store.failure();
    auto opened = std::make_unique<FaultyDriver>(hub_, std::move(host));
    if (auto why = opened->open(*store)) return *std::move(why);
    return std::unique_ptr<Driver>(std::move(opened));
  };
  return client::Engine::client(
      client::Engine::open(Url::parse(store_url).take().redacted(), factory, std::move(options)));
}

void Faults::next(Step step, Fault fault, int times) {
  const std::lock_guard lock(hub_->mutex);
  auto& plan = hub_->plans[static_cast<std::size_t>(step)].next;
  plan.insert(plan.end(), static_cast<std::size_t>(times), fault);
}

void Faults::always(Step step, Fault fault) {
  const std::lock_guard lock(hub_->mutex);
  hub_->plans[static_cast<std::size_t>(step)].always = std::move(fault);
}

void Faults::all(Fault fault) {
  const std::lock_guard lock(hub_->mutex);
  for (auto& plan : hub_->plans) plan.always = fault;
}

void Faults::clear() {
  const std::lock_guard lock(hub_->mutex);
  hub_->plans = {};
}

void Faults::let_go() {
  const std::lock_guard lock(hub_->mutex);
  for (auto* driver : hub_->drivers) driver->post([](FaultyDriver& faulty) { faulty.let_go(); });
}

void Faults::mute_events(bool muted) {
  const std::lock_guard lock(hub_->mutex);
  hub_->muted = muted;
}

void Faults::tell(driver::Event event) {
  const std::lock_guard lock(hub_->mutex);
  for (auto* driver : hub_->drivers)
    driver->post([event](FaultyDriver& faulty) { faulty.tell(event); });
}

std::vector<Faults::Call> Faults::calls(Step step) const {
  const std::lock_guard lock(hub_->mutex);
  std::vector<Call> found;
  std::ranges::copy_if(hub_->calls, std::back_inserter(found),
                       [step](const Call& call) { return call.step == step; });
  return found;
}

int Faults::count(Step step) const { return static_cast<int>(calls(step).size()); }

bool Faults::wait_for(Step step, int calls, std::chrono::milliseconds limit) const {
  std::unique_lock lock(hub_->mutex);
  return hub_->called.wait_for(
      lock, limit, [&] { return std::ranges::count(hub_->calls, step, &Call::step) >= calls; });
}

}  // namespace holdfast::test
