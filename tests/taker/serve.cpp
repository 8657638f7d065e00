#include <unistd.h>

#include <atomic>
#include <iostream>
#include <list>
#include <map>
#include <mutex>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "support/outside.hpp"
#include "taker/taker.hpp"

namespace holdfast::test {
namespace {

using std::chrono::milliseconds;

std::int64_t ns(boot_clock::time_point at) { return at.time_since_epoch().count(); }

class Taker {
 public:
  explicit Taker(const char* url) : client_(url) { say("ready"); }
  ~Taker() {
    const std::lock_guard lock(mutex_);
    for (auto& [name, slot] : slots_) slot.stop.request_stop();
  }

  void start(std::string line) {
    running_.emplace_back([this, line = std::move(line)] { run(line); });
  }

 private:
  void run(const std::string& line) {
    std::istringstream in(line);
    std::string verb;
    std::string name;
    in >> verb >> name;
    try {
      if (verb == "acquire") acquire(name, in);
      if (verb == "cancel") slot(name).stop.request_stop();
      if (verb == "release") say("released", name, to_string(lease(name).release()));
      if (verb == "renew") renew(name);
      if (verb == "state") state(name);
      if (verb == "append") append(name, in);
      if (verb == "beat") beat(name, in);
      if (verb == "probe") probe(name);
      if (verb == "contend") contend(name, in);
      if (verb == "churn") churn(name, in);
    } catch (const Error& error) {
      say("error", name, error.code().value(), error.words());
    }
  }

  struct Slot {
    std::stop_source stop;
    Lease lease;
  };

  Slot& slot(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return slots_[name];
  }
  Lease& lease(const std::string& name) { return slot(name).lease; }
  Lease& keep(const std::string& name, Lease granted) {
    const std::lock_guard lock(mutex_);
    return slots_[name].lease = std::move(granted);
  }

  void acquire(const std::string& name, std::istringstream& in) {
    std::int64_t ttl, wait;
    in >> ttl >> wait;
    LeaseOptions options;
    options.ttl = milliseconds(ttl);
    bool shared = false;
    std::uint32_t permits = 0, limit = 0;
    for (std::string word; in >> word;) {
      if (word == "shared") shared = true;
      if (word == "permits") in >> permits >> limit;
      if (word == "no-renew") options.auto_renew = false;
    }
    const auto take = [&](const LeaseSource& source) {
      auto& mine = slot(name);
      mine.stop = {};
      say("asking", name);
      return source.try_acquire_for(milliseconds(wait), mine.stop.get_token());
    };
    auto granted = shared    ? take(client_.shared_mutex(name, options).shared())
                   : permits ? take(client_.semaphore(name, limit, options, permits))
                             : take(client_.mutex(name, options));
    if (!granted) return say("busy", name);
    Lease& mine = keep(name, std::move(*granted));
    say("granted", name, mine.token(), ns(mine.valid_until()));
    mine.on_jeopardy([name] { say("jeopardy", name); });
    mine.on_loss([name](LossReason reason) { say("lost", name, to_string(reason)); });
  }

  void renew(const std::string& name) {
    lease(name).renew();
    say("renewed", name, ns(lease(name).valid_until()));
  }

  void state(const std::string& name) {
    const Lease& mine = lease(name);
    const auto now = mine.state();
    say("state", name, to_string(now), mine.token(), to_string(mine.loss_reason()));
  }

  void append(const std::string& name, std::istringstream& in) {
    std::string file, how, who;
    in >> file >> how >> who;
    const bool written = Register(file).append(lease(name).token(), who, how == "fenced");
    say(written ? "written" : "refused", name);
  }

  void beat(const std::string& name, std::istringstream& in) {
    std::string file, how, who;
    std::int64_t period;
    in >> file >> period >> how >> who;
    const Lease& mine = lease(name);
    int count = 0;
    for (std::error_code lost; mine.ensure_held(lost); ++count) {
      Register(file).append(mine.token(), who, how == "fenced");
      std::this_thread::sleep_for(milliseconds(period));
    }
    say("beaten", name, count);
  }

  void probe(const std::string& name) {
    const Lease& mine = lease(name);
    int violations = 0;
    bool was_lost = false;
    say("probing", name);
    for (int after = 0; after < 1000; after += was_lost) {
      const auto before = boot_clock::now();
      const bool lost = mine.state() == LeaseState::lost;
      if (!lost && (was_lost || before >= mine.valid_until())) ++violations;
      was_lost |= lost;
    }
    say("probed", name, violations);
  }

  void contend(const std::string& name, std::istringstream& in) {
    std::string file, who;
    int count;
    std::int64_t ttl;
    in >> file >> count >> ttl >> who;
    LeaseOptions options;
    options.ttl = milliseconds(ttl);
    const Mutex mutex = client_.mutex(name, options);
    const Counter counter(file);
    std::ostringstream tenures;
    for (int i = 0; i < count; ++i) {
      const auto invoked = boot_clock::now();
      Lease mine = mutex.acquire();
      const auto granted = boot_clock::now();
      counter.increment();
      const auto believed = boot_clock::now();
      const auto token = mine.token();
      const auto outcome = mine.release();
      if (outcome != ReleaseOutcome::released) say("odd", name, to_string(outcome));
      tenures << "tenure " << name << ' ' << who << ' ' << token << ' ' << ns(invoked) << ' '
              << ns(granted) << ' ' << ns(believed) << ' ' << ns(boot_clock::now()) << '\n';
    }
    std::istringstream lines(tenures.str());
    for (std::string line; std::getline(lines, line);) say(line);
    say("done", name);
  }

  void churn(const std::string& name, std::istringstream& in) {
    std::int64_t ttl;
    in >> ttl;
    LeaseOptions options;
    options.ttl = milliseconds(ttl);
    const Mutex mutex = client_.mutex(name, options);
    for (bool first = true;; first = false) {
      Lease mine = mutex.acquire();
      if (first) say("churning", name);
      mine.release();
    }
  }

  Client client_;
  std::mutex mutex_;
  std::map<std::string, Slot> slots_;
  std::list<std::jthread> running_;  // the first to go
};

}  // namespace

void print_event(const std::string& event) {
  const std::string line = std::to_string(ns(boot_clock::now())) + event + "\n";
  // One write a line: lines of threads do not mix.
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t count = ::write(STDOUT_FILENO, line.data() + done, line.size() - done);
    if (count > 0) done += static_cast<std::size_t>(count);
    if (count < 0 && errno != EINTR) ::_exit(2);
  }
}

int serve(const char* url) {
  Taker taker(url);
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "quit") return 0;
    taker.start(line);
  }
  ::_exit(0);  // the test is gone
}

}  // namespace holdfast::test
