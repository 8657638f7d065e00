/// `memory:`, against what a program would use that has no need of leases.

#include <semaphore.h>

#include <deque>
#include <mutex>
#include <unordered_map>

#include <holdfast/holdfast.hpp>

#include "cases.hpp"
#include "slices.hpp"
#include "take.hpp"
#include "team.hpp"

namespace holdfast::bench {

namespace {

constexpr const char* name = "order:payment:123456";

std::vector<Line> uncontended(Plan& plan, Breaches& breaches) {
  struct Entry {
    std::timed_mutex mutex;
    std::uint64_t count = 0;
  };
  std::unordered_map<std::string, Entry> entries;
  for (int i = 0; i < 1000; ++i) entries["order:payment:" + std::to_string(123000 + i)].count = 0;
  const std::string key = name;

  const Client client("memory:");
  const Mutex mutex = client.mutex(name);
  Pairs pairs(breaches);

  Slices slices(plan, [&](Duration length) {
    return rate_of(length, 1000, [&] {
      Entry& entry = entries.find(key)->second;
      const std::lock_guard lock(entry.mutex);
      ++entry.count;
    });
  });
  const auto ours =
      slices.add([&](Duration length) { return rate_of(length, 50, [&] { pairs(mutex); }); });
  slices.run(50);

  Line line{.store = "memory",
            .name = "uncontended",
            .ours = 1e9 / slices.rate(ours),
            .raw = 1e9 / slices.rate(Slices::raw),
            .unit = "ns/pair",
            .ratio = 1 / slices.ratio(ours),
            .goal = Goal::ratio_at_most(40),
            .control = slices.control()};
  line.judge(plan);
  return {line};
}

/// First come, first served, as Holdfast: a queue, and a semaphore for each who waits in it.
class Fifo {
 public:
  void lock(sem_t& own) {
    {
      const std::lock_guard lock(mutex_);
      if (!held_) {
        held_ = true;
        return;
      }
      waiting_.push_back(&own);
    }
    while (sem_wait(&own) != 0) {
    }
  }
  void unlock() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      held_ = false;
      return;
    }
    sem_post(waiting_.front());
    waiting_.pop_front();
  }

 private:
  std::mutex mutex_;
  bool held_ = false;
  std::deque<sem_t*> waiting_;
};

constexpr unsigned threads = 8;

std::vector<Line> threads_on_one_name(Plan& plan, Breaches& breaches) {
  Ledger ledger(breaches, "memory: 8 threads one name");
  const Client client("memory:");
  const Mutex mutex = client.mutex(name);

  std::vector<std::vector<Hold>> holds(threads);
  Team ours_team(threads, [&](unsigned thread, Instant until) {
    while (boot_clock::now() < until) holds[thread].push_back(take(mutex, thread, 0));
  });

  Fifo fifo;
  std::vector<sem_t> semaphores(threads);
  for (auto& semaphore : semaphores) sem_init(&semaphore, 0, 0);
  Team raw_team(threads, [&](unsigned thread, Instant until) {
    while (boot_clock::now() < until) {
      Hold hold;
      hold.who = thread;
      hold.asked = clock_now();
      fifo.lock(semaphores[thread]);
      hold.acquired = clock_now();
      hold.released = clock_now();
      fifo.unlock();
      holds[thread].push_back(hold);
    }
  });

  const auto changes = [&](Team& team, Duration length, bool check) {
    for (auto& each : holds) each.clear();
    const Duration took = team.run(length);
    std::vector<Hold> all;
    for (auto& each : holds) all.insert(all.end(), each.begin(), each.end());
    if (check)
      ledger.check(all);
    else
      std::ranges::sort(all, {}, &Hold::acquired);
    return static_cast<double>(changes_of_owner(all)) / seconds(took);
  };
  Slices slices(plan, [&](Duration length) { return changes(raw_team, length, false); });
  const auto ours = slices.add([&](Duration length) { return changes(ours_team, length, true); });
  slices.run(40);
  for (auto& semaphore : semaphores) sem_destroy(&semaphore);

  return {Line{.store = "memory",
               .name = "8 threads one name",
               .ours = slices.rate(ours),
               .raw = slices.rate(Slices::raw),
               .unit = "changes/s",
               .ratio = slices.ratio(ours),
               .control = slices.control()}};
}

}  // namespace

std::vector<Case> memory_cases() {
  return {{"memory", "uncontended", uncontended},
          {"memory", "8 threads one name", threads_on_one_name}};
}

}  // namespace holdfast::bench
