#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include <holdfast/clock.hpp>

namespace holdfast::test {

/// What happened in a run, as the participants saw it on the clock that all of them share, and the
/// checkers that judge it. Thread-safe while it is being filled.
class History {
 public:
  using Instant = boot_clock::time_point;

  /// One lease: from the call that asked for it to the instant up to which its holder believed in
  /// it.
  struct Tenure {
    std::string key;
    std::string who;
    std::uint64_t token = 0;
    Instant invoked{};  ///< the acquire was called …
    Instant granted{};  ///< … and returned
    /// The last instant at which its holder could have acted: release called, loss heard, deadline.
    Instant believed{};
    /// The store keeps it no longer than this: release answered, or TTL after the last renewal.
    Instant until{};
    bool shared = false;
  };

  /// A guarded write, in the order in which the resource saw them.
  struct Write {
    std::string key;
    std::string who;
    std::uint64_t token = 0;
    bool accepted = true;
  };

  /// An acquire that went without: its budget ended.
  struct Wait {
    std::string key;
    std::string who;
    Instant invoked{};
    Instant ended{};
  };

  void add(Tenure tenure);
  void add(Write write);
  void add(Wait wait);
  [[nodiscard]] std::size_t tenures() const;

  struct Violation {
    std::string check;  ///< "C1" …
    std::string words;
  };

  /// C1: accepted writes have non-decreasing tokens, and a token one owner.
  [[nodiscard]] std::vector<Violation> fenced_exclusion() const;
  /// C2: whoever asked after another had been granted has the higher token; exclusive tokens are
  /// unique.
  [[nodiscard]] std::vector<Violation> token_order() const;
  /// C3: no two believe at the same time, unless both only read.
  [[nodiscard]] std::vector<Violation> belief_overlap() const;
  /// C5: a key that is free does not stay so for longer than `bound` while somebody waits for it.
  [[nodiscard]] std::vector<Violation> lost_wake_up(std::chrono::nanoseconds bound) const;

  /// All of them.
  [[nodiscard]] std::vector<Violation> check(std::chrono::nanoseconds wake_up_bound) const;

 private:
  mutable std::mutex mutex_;
  std::vector<Tenure> tenures_;
  std::vector<Write> writes_;
  std::vector<Wait> waits_;
};

/// For EXPECT_THAT and messages.
std::ostream& operator<<(std::ostream& out, const History::Violation& violation);

}  // namespace holdfast::test
