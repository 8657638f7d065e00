#include "line.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace holdfast::bench {

namespace {

constexpr const char* row = "{:<7} {:<46} {:>10} {:>10} {:<17} {:>8}  {:<17} {:<6} {:>7}\n";

std::string human(double value) {
  const double size = std::abs(value);
  if (size >= 1000) return fmt::format("{:.0f}", value);
  if (size >= 100) return fmt::format("{:.1f}", value);
  if (size >= 1) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3f}", value);
}

std::string human(const std::optional<double>& value) { return value ? human(*value) : "-"; }

/// Five digits: what is behind them is noise.
nlohmann::ordered_json number(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  return std::stod(fmt::format("{:.5g}", *value));
}

const char* verdict(const Line& line) {
  if (line.ok) return *line.ok ? "ok" : "MISSED";
  return line.goal && line.control && !quiet(*line.control) ? "noisy" : "-";
}

}  // namespace

std::string Goal::words() const {
  const char* what = of == Of::ratio ? "ratio" : of == Of::ours ? "ours" : "ours - raw";
  const char* sign = must == Must::at_least ? ">=" : must == Must::at_most ? "<=" : "<";
  return fmt::format("{} {} {:g}", what, sign, bound);
}

void Line::judge(const Plan& plan) {
  ok.reset();
  if (!goal || plan.quick || (control && !quiet(*control))) return;
  const double value = goal->of == Goal::Of::ratio  ? ratio.value()
                       : goal->of == Goal::Of::ours ? ours
                                                    : ours - raw.value();
  ok = goal->must == Goal::Must::at_least  ? value >= goal->bound
       : goal->must == Goal::Must::at_most ? value <= goal->bound
                                           : value < goal->bound;
}

std::string json(const Line& line) {
  nlohmann::ordered_json object;
  object["store"] = line.store;
  object["case"] = line.name;
  object["ours"] = number(line.ours);
  object["raw"] = number(line.raw);
  object["unit"] = line.unit;
  object["ratio"] = number(line.ratio);
  object["goal"] = nullptr;
  if (line.goal) object["goal"] = line.goal->words();
  object["ok"] = nullptr;
  if (line.ok) object["ok"] = *line.ok;
  object["control"] = number(line.control);
  return object.dump();
}

std::string table_head() {
  return fmt::format(row, "store", "case", "ours", "raw", "unit", "ratio", "goal", "ok", "control");
}

std::string table_row(const Line& line) {
  return fmt::format(row, line.store, line.name, human(line.ours), human(line.raw), line.unit,
                     human(line.ratio), line.goal ? line.goal->words() : "-", verdict(line),
                     human(line.control));
}

}  // namespace holdfast::bench
