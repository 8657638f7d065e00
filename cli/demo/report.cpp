#include "demo/report.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "human.hpp"
#include "json.hpp"
#include "table.hpp"

namespace holdfast::cli {
namespace {

Json to_json(const HalfResult& result, const HalfPlan& plan, bool chaos) {
  Json object;
  object["lock"] = result.lock;
  object["sold"] = result.sold;
  object["oversold"] = result.oversold;
  object["rejected_writes"] = result.rejected_writes;
  object["seconds"] = result.seconds;
  object["acquisitions_per_s"] = result.acquisitions_per_second();
  object["wait_p50_us"] = result.wait_us(0.50);
  object["wait_p99_us"] = result.wait_us(0.99);
  object["acquisitions"] = result.waits_us.size();
  object["items"] = plan.items;
  object["buyers"] = plan.buyers;
  object["left"] = result.left;
  if (chaos) {
    object["kills"] = result.kills;
    object["stops"] = result.stops;
  }
  return object;
}

std::string table(const std::vector<HalfResult>& results, bool chaos) {
  using Align = Table::Align;
  Table rows({{"LOCK"},
              {"SOLD", Align::right},
              {"OVERSOLD", Align::right},
              {"REJECTED WRITES", Align::right},
              {"SECONDS", Align::right},
              {"ACQUISITIONS/S", Align::right},
              {"WAIT P50", Align::right},
              {"WAIT P99", Align::right},
              {"KILLS", Align::right},
              {"STOPS", Align::right}});
  for (const auto& r : results) {
    const bool locked = r.lock != "none";
    const auto if_locked = [locked](std::string text) {
      return locked ? std::move(text) : std::string("-");
    };
    const auto wait = [&](double q) {
      return if_locked(human(std::chrono::microseconds(r.wait_us(q))));
    };
    const auto torment = [&](unsigned count) {
      return chaos ? if_locked(std::to_string(count)) : std::string();
    };
    rows.row({r.lock, std::to_string(r.sold), std::to_string(r.oversold),
              if_locked(std::to_string(r.rejected_writes)), fmt::format("{:.2f}", r.seconds),
              if_locked(fmt::format("{:.0f}", r.acquisitions_per_second())), wait(0.50), wait(0.99),
              torment(r.kills), torment(r.stops)});
  }
  return rows.text();
}

std::string verdict(const HalfResult& result, std::int64_t items) {
  if (result.lock == "none")
    return fmt::format("Without a lock {} orders were taken for {} items{}.", result.sold, items,
                       result.oversold == 0 ? ": lucky this time" : "");
  if (result.oversold != 0 || result.sold != items)
    return fmt::format("Under Holdfast {} were sold for {} items: WRONG.", result.sold, items);
  auto text = fmt::format("Under Holdfast exactly {} were sold.", items);
  if (result.rejected_writes > 0)
    text += fmt::format(" The fencing token kept out {} late write{} of former holders.",
                        result.rejected_writes, result.rejected_writes == 1 ? "" : "s");
  return text;
}

}  // namespace

void Report::begin() const {
  if (json) return;
  print(
      fmt::format("A flash sale: {} items, {} buyers, each a process that reads the stock, thinks "
                  "for 1 to 3 ms and\n"
                  "writes it back. First without a lock, then under \"shop:item:1\" in\n{}{}\n\n",
                  plan.items, plan.buyers, store,
                  chaos ? ",\nwhile buyers are killed (kill -9) and frozen (SIGSTOP) for longer "
                          "than their lease lasts"
                        : ""));
}

void Report::add(const HalfResult& result) {
  results.push_back(result);
  if (json) print_line(to_json(result, plan, chaos));
}

void Report::end() const {
  if (json) return;
  print(table(results, chaos));
  const std::string self = ::program_invocation_name;
  print("\n");
  for (const auto& result : results) print(verdict(result, plan.items) + "\n");
  print("\nTry next:\n");
  if (!chaos)
    print(fmt::format("  {} demo sale --chaos      the same while buyers are killed and frozen\n",
                      self));
  print(fmt::format(
      "  {0} run job -- sleep 30    run a command under a lock, and meanwhile elsewhere\n"
      "  {0} ls                     see who holds what\n"
      "  {0} run --help             all about it\n",
      self));
}

}  // namespace holdfast::cli
