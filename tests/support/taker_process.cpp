#include "support/taker_process.hpp"

#include <algorithm>
#include <stdexcept>

namespace holdfast::test {

Taker::Taker(const std::string& program, const std::string& url,
             const std::vector<std::string>& environment)
    : process_({program, url}, environment) {
  expect("ready");
}

std::optional<TakerEvent> Taker::next(std::string_view what, std::chrono::milliseconds limit) {
  if (const auto found = std::ranges::find(kept_, what, &TakerEvent::what); found != kept_.end()) {
    TakerEvent event = std::move(*found);
    kept_.erase(found);
    return event;
  }
  const auto end = boot_clock::now() + limit;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - boot_clock::now());
    const auto line = process_.read_line(std::max(left, 0ms));
    if (!line) return std::nullopt;
    std::istringstream in(*line);
    TakerEvent event;
    boot_clock::rep at = 0;
    in >> at >> event.what;
    event.at = boot_clock::time_point(boot_clock::duration(at));
    for (std::string word; in >> word;) event.words.push_back(word);
    if (event.what == what) return event;
    kept_.push_back(std::move(event));
  }
}

TakerEvent Taker::expect(std::string_view what, std::chrono::milliseconds limit) {
  if (auto event = next(what, limit)) return *std::move(event);
  std::string words = "the lock-taker did not say '" + std::string(what) + "'; it said:";
  for (const TakerEvent& event : kept_) {
    words += "\n  " + event.what;
    for (const auto& word : event.words) words += ' ' + word;
  }
  throw std::runtime_error(words);
}

std::uint64_t Taker::acquire(std::string_view name, std::chrono::milliseconds ttl,
                             std::string_view more) {
  send("acquire", name, ttl.count(), std::chrono::milliseconds(patience).count(), more);
  return expect("granted").number(1);
}

History::Tenure tenure_of(const TakerEvent& event) {
  return {.key = event.words.at(0),
          .who = event.words.at(1),
          .token = event.number(2),
          .invoked = event.instant(3),
          .granted = event.instant(4),
          .believed = event.instant(5),
          .until = event.instant(6)};
}

}  // namespace holdfast::test
