#include "slices.hpp"

#include <algorithm>
#include <functional>

#include "line.hpp"
#include "progress.hpp"
#include "statistics.hpp"

namespace holdfast::bench {

namespace {

constexpr int again = 3;
constexpr int quick_rounds = 3;

std::vector<double> quotients(const std::vector<double>& these, const std::vector<double>& those) {
  std::vector<double> all(these.size());
  std::ranges::transform(these, those, all.begin(), std::divides<>());
  return all;
}

}  // namespace

Slices::Slices(Plan& plan, Slice raw_slice, Duration length) : plan_(plan) {
  contenders_.push_back({std::move(raw_slice), length});
}

std::size_t Slices::add(Slice slice, Duration length) {
  contenders_.push_back({std::move(slice), length});
  return contenders_.size() - 1;
}

void Slices::run(int rounds) {
  rounds =
      plan_.quick ? quick_rounds : std::max(quick_rounds, static_cast<int>(rounds * plan_.scale));
  for (int attempt = 0; attempt <= again; ++attempt) {
    const Instant begin = boot_clock::now();
    measure(rounds);
    const Duration took = boot_clock::now() - begin;
    if (plan_.quick || quiet(control()) || took > plan_.spare) return;
    if (attempt < again) plan_.spare -= took;
  }
}

void Slices::measure(int rounds) {
  if (forget_) forget_();
  for (auto& contender : contenders_) contender.rates.clear();
  first_.clear();
  second_.clear();

  const auto slice = [this](const Contender& contender) {
    return contender.slice(plan_.quick ? contender.length / 3 : contender.length);
  };
  auto& anchor = contenders_.front();
  static_cast<void>(slice(anchor));  // warm up
  for (int round = 0; round < rounds; ++round) {
    progress(100 * round / rounds);
    const bool forth = round % 2 == 0;
    const double before = slice(anchor);
    for (std::size_t i = 1; i < contenders_.size(); ++i) {
      auto& contender = contenders_[forth ? i : contenders_.size() - i];
      contender.rates.push_back(slice(contender));
    }
    const double after = slice(anchor);
    first_.push_back(forth ? before : after);
    second_.push_back(forth ? after : before);
    anchor.rates.push_back((before + after) / 2);
  }
}

double Slices::rate(std::size_t which) const { return median(contenders_.at(which).rates); }

double Slices::ratio(std::size_t which, std::size_t to) const {
  return median(quotients(contenders_.at(which).rates, contenders_.at(to).rates));
}

double Slices::control() const { return median(quotients(second_, first_)); }

}  // namespace holdfast::bench
