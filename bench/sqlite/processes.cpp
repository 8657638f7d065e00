/// `sqlite:`, several processes and one name.

#include <fmt/format.h>

#include <map>
#include <memory>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "cases.hpp"
#include "scratch.hpp"
#include "slices.hpp"
#include "sqlite/raw.hpp"
#include "statistics.hpp"
#include "worker.hpp"

namespace holdfast::bench {

namespace {

using std::chrono::milliseconds;

constexpr const char* name = "order:payment:123456";

/// Processes that take one name again and again.
class Contest {
 public:
  Contest(Breaches& breaches, std::string what, const std::string& url, unsigned size,
          Duration hold)
      : ledger_(breaches, std::move(what)) {
    for (unsigned who = 0; who < size; ++who)
      workers_.push_back(std::make_unique<Worker>(std::vector<std::string>{
          "contend", url, name, std::to_string(who), std::to_string(hold.count()), "0"}));
  }

  /// Returns changes of owner per second, and keeps the rest until forget().
  double run(Duration length) {
    const Instant::rep begin = clock_now() + Duration(milliseconds(2)).count();
    for (auto& worker : workers_) worker->tell(fmt::format("{} {}", begin, begin + length.count()));
    std::vector<Hold> all;
    for (auto& worker : workers_) {
      const auto holds = worker->answer().holds;
      all.insert(all.end(), holds.begin(), holds.end());
    }
    const Instant::rep end = clock_now();
    ledger_.check(all);
    hand_overs(all, hand_overs_);
    for (const Hold& hold : all) {
      ++counts_[hold.who];
      waits_.push_back(wait_of(hold));
    }
    return static_cast<double>(changes_of_owner(all)) / seconds(Duration(end - begin));
  }

  void forget() {
    hand_overs_.clear();
    waits_.clear();
    counts_.clear();
  }

  [[nodiscard]] const std::vector<Duration>& hand_over_times() const { return hand_overs_; }
  [[nodiscard]] const std::vector<Duration>& wait_times() const { return waits_; }
  [[nodiscard]] double most_to_least() const {
    double most = 0;
    double least = 0;
    for (const auto& [who, count] : counts_) {
      const auto number = static_cast<double>(count);
      most = std::max(most, number);
      least = least == 0 ? number : std::min(least, number);
    }
    return least == 0 ? 0 : most / least;
  }

 private:
  Ledger ledger_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Duration> hand_overs_, waits_;
  std::map<std::uint32_t, std::size_t> counts_;
};

/// Raw pairs, with the time of each of the two commits.
struct Commits {
  explicit Commits(RawSqlite& database) : raw(database) {}
  double run(Duration length) {
    const std::string key = name;
    return rate_of(length, 1, [&] {
      const Instant begin = boot_clock::now();
      raw.acquire({&key, 1});
      const Instant middle = boot_clock::now();
      raw.release({&key, 1});
      times.push_back(middle - begin);
      times.push_back(boot_clock::now() - middle);
    });
  }
  RawSqlite& raw;
  std::vector<Duration> times{};
};

std::vector<Line> hand_over(Plan& plan, Breaches& breaches) {
  const Scratch scratch(plan.directory);
  RawSqlite raw(scratch.file("raw.db"), sqlite::Sync::full);
  Commits commits(raw);
  // A hold long enough for the other one to be queued and asleep by its end.
  Contest contest(breaches, "sqlite: hand-over between two processes full",
                  "sqlite://" + scratch.file("ours.db") + "?sync=full", 2, milliseconds(3));
  Slices slices(plan, [&](Duration length) { return commits.run(length); });
  slices.add([&](Duration length) { return contest.run(length); }, milliseconds(150));
  slices.on_start([&] {
    commits.times.clear();
    contest.forget();
  });
  slices.run(40);

  const double commit = milliseconds_of(median(commits.times));
  Line middle{.store = "sqlite",
              .name = "hand-over between two processes full: p50",
              .ours = milliseconds_of(median(contest.hand_over_times())),
              .raw = commit,
              .unit = "ms",
              .goal = Goal::above_raw_by_less_than(2),
              .control = slices.control()};
  middle.ratio = middle.ours / commit;
  middle.judge(plan);
  Line tail = middle;
  tail.name = "hand-over between two processes full: p99";
  tail.ours = milliseconds_of(quantile(contest.hand_over_times(), 0.99));
  tail.raw = milliseconds_of(quantile(commits.times, 0.99));
  tail.ratio = tail.ours / *tail.raw;
  tail.goal.reset();
  tail.ok.reset();
  return {middle, tail};
}

std::vector<Line> eight_processes(Plan& plan, Breaches& breaches) {
  const Scratch scratch(plan.directory);
  RawSqlite raw(scratch.file("raw.db"), sqlite::Sync::full);
  Commits commits(raw);
  const std::string label = "8 processes one name full";
  Contest contest(breaches, "sqlite: " + label,
                  "sqlite://" + scratch.file("ours.db") + "?sync=full", 8, Duration::zero());
  Slices slices(plan, [&](Duration length) { return commits.run(length); });
  const auto ours =
      slices.add([&](Duration length) { return contest.run(length); }, milliseconds(300));
  slices.on_start([&] {
    commits.times.clear();
    contest.forget();
  });
  slices.run(20);

  const auto line = [&](const char* figure, double value, const char* unit) {
    return Line{.store = "sqlite",
                .name = label + ": " + figure,
                .ours = value,
                .unit = unit,
                .control = slices.control()};
  };
  Line changes = line("changes of owner", slices.rate(ours), "changes/s");
  changes.raw = slices.rate(Slices::raw);
  changes.ratio = slices.ratio(ours);
  Line middle = line("hand-over p50", milliseconds_of(median(contest.hand_over_times())), "ms");
  middle.raw = milliseconds_of(median(commits.times));
  middle.ratio = middle.ours / *middle.raw;
  Line tail =
      line("hand-over p99", milliseconds_of(quantile(contest.hand_over_times(), 0.99)), "ms");
  tail.raw = milliseconds_of(quantile(commits.times, 0.99));
  tail.ratio = tail.ours / *tail.raw;
  return {changes,
          middle,
          tail,
          line("most / least", contest.most_to_least(), "times"),
          line("wait p50", milliseconds_of(median(contest.wait_times())), "ms"),
          line("wait p99", milliseconds_of(quantile(contest.wait_times(), 0.99)), "ms"),
          line("longest wait", milliseconds_of(quantile(contest.wait_times(), 1.0)), "ms")};
}

std::vector<Line> idle_waiter(Plan& plan, Breaches&) {
  const Scratch scratch(plan.directory);
  const std::string url = "sqlite://" + scratch.file("ours.db") + "?sync=full";
  const Client client(url);
  const Lease held = client.mutex(name).acquire();
  Worker worker({"idle", url, name});
  const Duration settle = milliseconds(500);
  const Duration measure = plan.span(std::chrono::seconds(10));
  worker.tell(fmt::format("{} {}", settle.count(), measure.count()));
  const auto figures = worker.answer(settle + measure + std::chrono::seconds(30)).figures;
  held.ensure_held();
  Line line{.store = "sqlite",
            .name = "idle waiter",
            .ours = 100 * figures.cpu / figures.wall,
            .unit = "% of a core",
            .goal = Goal::below(0.5)};
  line.judge(plan);
  return {line};
}

}  // namespace

std::vector<Case> sqlite_process_cases() {
  return {{"sqlite", "hand-over between two processes full", hand_over},
          {"sqlite", "8 processes one name full", eight_processes},
          {"sqlite", "idle waiter", idle_waiter}};
}

}  // namespace holdfast::bench
