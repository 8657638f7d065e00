#pragma once

#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/clock.hpp>

#include "support/history.hpp"
#include "support/process.hpp"

namespace holdfast::test {

/// One line of a lock-taker: when, what, and the rest by words.
struct TakerEvent {
  boot_clock::time_point at;
  std::string what;
  std::vector<std::string> words;

  [[nodiscard]] std::uint64_t number(std::size_t index) const {
    return std::stoull(words.at(index));
  }
  [[nodiscard]] boot_clock::time_point instant(std::size_t index) const {
    return boot_clock::time_point(boot_clock::duration(std::stoll(words.at(index))));
  }
};

/// A lock-taker (tests/taker), seen from the test.
class Taker {
 public:
  /// `program`: the path of the lock-taker.
  Taker(const std::string& program, const std::string& url,
        const std::vector<std::string>& environment = {});

  /// Sends a command (tests/taker/taker.hpp).
  template <class... Words>
  void send(const Words&... words) {
    std::ostringstream line;
    ((line << words << ' '), ...);
    process_.write(line.str());
  }

  /// The next event of this kind; those of other kinds are kept. Fails the test and throws if none
  /// comes.
  TakerEvent expect(std::string_view what, std::chrono::milliseconds limit = patience);
  /// The same, or nothing when the time is over.
  [[nodiscard]] std::optional<TakerEvent> next(std::string_view what,
                                               std::chrono::milliseconds limit);

  /// acquire, and the token. Throws if it is not granted.
  std::uint64_t acquire(std::string_view name, std::chrono::milliseconds ttl,
                        std::string_view more = {});

  [[nodiscard]] Process& process() noexcept { return process_; }

 private:
  Process process_;
  std::vector<TakerEvent> kept_;
};

/// A `tenure` event of a counter race, for the history.
[[nodiscard]] History::Tenure tenure_of(const TakerEvent& event);

}  // namespace holdfast::test
