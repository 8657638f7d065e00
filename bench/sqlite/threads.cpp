/// `sqlite:`, many threads of one process: what they share.

#include <fmt/format.h>

#include <holdfast/holdfast.hpp>

#include "cases.hpp"
#include "scratch.hpp"
#include "slices.hpp"
#include "sqlite/raw.hpp"
#include "statistics.hpp"
#include "take.hpp"
#include "team.hpp"
#include "worker.hpp"

namespace holdfast::bench {

namespace {

using std::chrono::milliseconds;

constexpr auto slice = milliseconds(60);

std::vector<Hold> gather(std::vector<std::vector<Hold>>& holds) {
  std::vector<Hold> all;
  for (auto& each : holds) {
    all.insert(all.end(), each.begin(), each.end());
    each.clear();
  }
  return all;
}

/// Requests that come in while a transaction is written share the next one.
std::vector<Line> group_commit(Plan& plan, Breaches& breaches) {
  constexpr unsigned threads = 64;
  const Scratch scratch(plan.directory);
  RawSqlite raw(scratch.file("raw.db"), sqlite::Sync::full);
  const Client client("sqlite://" + scratch.file("ours.db") + "?sync=full");
  Ledger ledger(breaches, "sqlite: 64 threads 64 names full");
  Pairs pairs(breaches);

  std::vector<std::string> names;
  std::vector<Mutex> mutexes;
  for (unsigned i = 0; i < threads; ++i) {
    names.push_back(fmt::format("order:payment:{:06}", i));
    mutexes.push_back(client.mutex(names.back()));
  }
  const Mutex lone = client.mutex("order:payment:lone");
  std::vector<std::vector<Hold>> holds(threads);
  Team team(threads, [&](unsigned thread, Instant until) {
    while (boot_clock::now() < until)
      holds[thread].push_back(take(mutexes[thread], thread, thread));
  });

  Slices slices(
      plan,
      [&](Duration length) {
        return threads * rate_of(length, 1, [&] {
                 raw.acquire(names);
                 raw.release(names);
               });
      },
      slice);
  const auto raw_one = slices.add(
      [&](Duration length) { return rate_of(length, 1, [&] { raw.pair(names.front()); }); }, slice);
  const auto ours = slices.add(
      [&](Duration length) {
        const Duration took = team.run(length);
        auto all = gather(holds);
        ledger.check(all);
        return static_cast<double>(all.size()) / seconds(took);
      },
      milliseconds(100));
  const auto one =
      slices.add([&](Duration length) { return rate_of(length, 1, [&] { pairs(lone); }); }, slice);
  slices.run(40);

  const Line common{.store = "sqlite",
                    .name = "64 threads 64 names full",
                    .unit = "pairs/s",
                    .control = slices.control()};
  Line over_one = common;
  over_one.name += ": to one thread";
  over_one.ours = slices.rate(ours);
  over_one.raw = slices.rate(one);
  over_one.ratio = slices.ratio(ours, one);
  over_one.goal = Goal::ratio_at_least(20);
  over_one.judge(plan);
  Line by_hand = common;
  by_hand.name += ": to 64 by hand";
  by_hand.ours = slices.rate(ours);
  by_hand.raw = slices.rate(Slices::raw);
  by_hand.ratio = slices.ratio(ours);
  Line raw_gain = common;
  raw_gain.name = "64 pairs a transaction by hand: to one";
  raw_gain.ours = slices.rate(Slices::raw);
  raw_gain.raw = slices.rate(raw_one);
  raw_gain.ratio = 1 / slices.ratio(raw_one);
  return {over_one, by_hand, raw_gain};
}

/// Passing a lease from thread to thread inside the process, while somebody outside wants it too.
std::vector<Line> passing(Plan& plan, Breaches& breaches, Duration pause, const std::string& label,
                          bool judged) {
  constexpr unsigned threads = 16;
  constexpr std::uint32_t outsider = threads;
  const Scratch scratch(plan.directory);
  RawSqlite raw(scratch.file("raw.db"), sqlite::Sync::full);
  const std::string url = "sqlite://" + scratch.file("ours.db") + "?sync=full";
  const std::string name = "order:payment:123456";
  const Client client(url);
  const Mutex mutex = client.mutex(name);
  const Mutex lone = client.mutex("order:payment:lone");
  Ledger ledger(breaches, "sqlite: " + label);
  Pairs pairs(breaches);
  std::vector<std::vector<Hold>> holds(threads);
  Team team(threads, [&](unsigned thread, Instant until) {
    while (boot_clock::now() < until) holds[thread].push_back(take(mutex, thread, 0));
  });
  Worker worker(
      {"contend", url, name, std::to_string(outsider), "0", std::to_string(pause.count())});

  std::vector<Duration> waits;
  Slices slices(
      plan, [&](Duration length) { return rate_of(length, 1, [&] { raw.pair(name); }); }, slice);
  const auto one =
      slices.add([&](Duration length) { return rate_of(length, 1, [&] { pairs(lone); }); }, slice);
  const auto ours = slices.add(
      [&](Duration length) {
        const Instant::rep begin = clock_now();
        worker.tell(fmt::format("{} {}", begin, begin + length.count()));
        const Duration took = team.run(length);
        auto all = gather(holds);
        const auto others = worker.answer().holds;
        for (const Hold& hold : others) waits.push_back(wait_of(hold));
        all.insert(all.end(), others.begin(), others.end());
        ledger.check(all);
        // Only those that one of our threads got; each by another one than the holder before.
        std::size_t changes = 0;
        for (std::size_t i = 1; i < all.size(); ++i)
          changes += all[i].who != outsider && all[i].who != all[i - 1].who ? 1U : 0U;
        return static_cast<double>(changes) / seconds(took);
      },
      milliseconds(200));
  slices.on_start([&] { waits.clear(); });
  slices.run(30);

  Line rate{.store = "sqlite",
            .name = label + ": to one thread",
            .ours = slices.rate(ours),
            .raw = slices.rate(one),
            .unit = "changes/s",
            .ratio = slices.ratio(ours, one),
            .control = slices.control()};
  Line wait{.store = "sqlite",
            .name = label + ": wait outside p99",
            .ours = milliseconds_of(quantile(waits, 0.99)),
            .unit = "ms",
            .control = slices.control()};
  if (judged) {
    rate.goal = Goal::ratio_at_least(40);
    wait.goal = Goal::at_most(50);
  }
  rate.judge(plan);
  wait.judge(plan);
  return {rate, wait};
}

std::vector<Line> passing_with_pauses(Plan& plan, Breaches& breaches) {
  return passing(plan, breaches, milliseconds(5), "16 threads one name full", true);
}

std::vector<Line> passing_without_pauses(Plan& plan, Breaches& breaches) {
  return passing(plan, breaches, Duration::zero(), "16 threads one name full, greedy", false);
}

}  // namespace

std::vector<Case> sqlite_thread_cases() {
  return {{"sqlite", "64 threads 64 names full", group_commit},
          {"sqlite", "16 threads one name full", passing_with_pauses},
          {"sqlite", "16 threads one name full, greedy", passing_without_pauses}};
}

}  // namespace holdfast::bench
