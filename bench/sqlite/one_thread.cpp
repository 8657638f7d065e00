/// `sqlite:`, one thread and nobody else: what Holdfast adds to the two transactions.

#include <holdfast/holdfast.hpp>

#include "cases.hpp"
#include "scratch.hpp"
#include "slices.hpp"
#include "sqlite/raw.hpp"
#include "take.hpp"

namespace holdfast::bench {

namespace {

constexpr auto slice = std::chrono::milliseconds(60);

std::vector<Line> uncontended(Plan& plan, Breaches& breaches, sqlite::Sync sync, const char* mode) {
  const Scratch scratch(plan.directory);
  const std::string name = "order:payment:123456";
  RawSqlite raw(scratch.file("raw.db"), sync);
  const Client client("sqlite://" + scratch.file("ours.db") + "?sync=" + mode);
  const Mutex mutex = client.mutex(name);
  Pairs pairs(breaches);

  Slices slices(
      plan, [&](Duration length) { return rate_of(length, 1, [&] { raw.pair(name); }); }, slice);
  const auto ours =
      slices.add([&](Duration length) { return rate_of(length, 1, [&] { pairs(mutex); }); }, slice);
  slices.run(60);

  Line line{.store = "sqlite",
            .name = std::string("uncontended ") + mode,
            .ours = slices.rate(ours),
            .raw = slices.rate(Slices::raw),
            .unit = "pairs/s",
            .ratio = slices.ratio(ours),
            .goal = Goal::ratio_at_least(0.85),
            .control = slices.control()};
  line.judge(plan);
  return {line};
}

std::vector<Line> uncontended_full(Plan& plan, Breaches& breaches) {
  return uncontended(plan, breaches, sqlite::Sync::full, "full");
}

std::vector<Line> uncontended_normal(Plan& plan, Breaches& breaches) {
  return uncontended(plan, breaches, sqlite::Sync::normal, "normal");
}

/// As a program that takes another name each time and makes its Mutex on the spot.
std::vector<Line> many_names(Plan& plan, Breaches& breaches) {
  const Scratch scratch(plan.directory);
  RawSqlite raw(scratch.file("raw.db"), sqlite::Sync::normal);
  const Client client("sqlite://" + scratch.file("ours.db") + "?sync=normal");
  constexpr int count = 10'000;
  std::vector<std::string> names;
  names.reserve(count);
  for (int i = 0; i < count; ++i) names.push_back("order:payment:" + std::to_string(100'000 + i));
  std::vector<Pairs> checks(names.size(), Pairs(breaches));

  // Far apart from one to the next, so that no page is warm only because its neighbour was used.
  const auto next = [&](std::size_t& at) { return at = (at + 6151) % names.size(); };
  std::size_t raw_at = 0;
  std::size_t our_at = 0;
  const auto by_hand = [&] { raw.pair(names[next(raw_at)]); };
  const auto leased = [&] {
    const std::size_t i = next(our_at);
    checks[i](client.mutex(names[i]));
  };
  for (std::size_t i = 0; i < (plan.quick ? 500 : names.size()); ++i) by_hand(), leased();

  Slices slices(plan, [&](Duration length) { return rate_of(length, 1, by_hand); }, slice);
  const auto ours = slices.add([&](Duration length) { return rate_of(length, 1, leased); }, slice);
  slices.run(40);
  return {Line{.store = "sqlite",
               .name = "many names (10,000) normal",
               .ours = slices.rate(ours),
               .raw = slices.rate(Slices::raw),
               .unit = "pairs/s",
               .ratio = slices.ratio(ours),
               .control = slices.control()}};
}

}  // namespace

std::vector<Case> sqlite_one_thread_cases() {
  return {{"sqlite", "uncontended full", uncontended_full},
          {"sqlite", "uncontended normal", uncontended_normal},
          {"sqlite", "many names", many_names}};
}

}  // namespace holdfast::bench
