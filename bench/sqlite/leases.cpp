/// `sqlite:`, thousands of leases held by one process for long.

#include <fmt/format.h>

#include <stdexcept>

#include "cases.hpp"
#include "scratch.hpp"
#include "sqlite/raw.hpp"
#include "usage.hpp"
#include "worker.hpp"

namespace holdfast::bench {

namespace {

/// Processor time of one renewal of all names by hand, a thousand in a transaction; seconds.
double renewal_by_hand(const std::string& path, std::size_t count) {
  RawSqlite raw(path, sqlite::Sync::full);
  std::vector<std::string> names;
  names.reserve(count);
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("order:payment:{:06}", i));
  constexpr std::size_t together = 1000;
  const auto all = [&] {
    for (std::size_t i = 0; i < count; i += together)
      raw.renew(std::span(names).subspan(i, std::min(together, count - i)));
  };
  all();
  constexpr int times = 5;
  const double cpu = cpu_seconds();
  for (int i = 0; i < times; ++i) all();
  return (cpu_seconds() - cpu) / times;
}

std::vector<Line> ten_thousand(Plan& plan, Breaches&) {
  const std::size_t count = plan.quick ? 1'000 : 10'000;
  const auto ttl = std::chrono::milliseconds(plan.quick ? 3'000 : 30'000);
  const Scratch scratch(plan.directory);
  const double by_hand = 100 * 3 * renewal_by_hand(scratch.file("raw.db"), count) / seconds(ttl);

  Worker worker({"leases", "sqlite://" + scratch.file("ours.db") + "?sync=full",
                 std::to_string(count), std::to_string(ttl.count())});
  // Spread over the time from one renewal to the next, as leases are that were taken when they were
  // needed; then one TTL, in which each of them is renewed three times.
  const Duration spread = ttl / 3;
  const Duration measure = ttl;
  worker.tell(fmt::format("{} {}", spread.count(), measure.count()));
  const auto figures = worker.answer(spread + measure + std::chrono::seconds(60)).figures;
  if (figures.lost > 0) throw std::runtime_error(fmt::format("{} leases were lost", figures.lost));
  if (figures.renewals < 2 * count)
    throw std::runtime_error(fmt::format("only {} renewals", figures.renewals));

  Line cpu{.store = "sqlite",
           .name = "10,000 leases: keeping, TTL 30 s",
           .ours = 100 * figures.cpu / figures.wall,
           .raw = by_hand,
           .unit = "% of a core",
           .goal = Goal::below(5)};
  cpu.ratio = cpu.ours / by_hand;
  cpu.judge(plan);
  Line memory{.store = "sqlite",
              .name = "10,000 leases: memory",
              .ours = figures.bytes,
              .unit = "bytes/lease",
              .goal = Goal::below(2048)};
  memory.judge(plan);
  return {cpu, memory};
}

}  // namespace

std::vector<Case> sqlite_lease_cases() { return {{"sqlite", "10,000 leases", ten_thousand}}; }

}  // namespace holdfast::bench
