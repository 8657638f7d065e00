#pragma once

#include <stdexcept>
#include <string>
#include <thread>

#include <holdfast/mutex.hpp>

#include "holds.hpp"

namespace holdfast::bench {

inline void give_back(Lease& lease) {
  if (const auto outcome = lease.release(); outcome != ReleaseOutcome::released)
    throw std::runtime_error("a release ended as '" + std::string(to_string(outcome)) + "'");
}

/// Takes a lease, holds it for a while, gives it back, and says how that went.
[[nodiscard]] inline Hold take(const Mutex& mutex, std::uint32_t who, std::uint32_t name,
                               Duration time = Duration::zero()) {
  Hold hold;
  hold.who = who;
  hold.name = name;
  hold.asked = clock_now();
  Lease lease = mutex.acquire();
  hold.acquired = clock_now();
  hold.token = lease.token();
  if (time > Duration::zero()) std::this_thread::sleep_for(time);
  hold.released = clock_now();
  give_back(lease);
  return hold;
}

/// Takes a lease and gives it back, for where the clock would cost too much; only the token is
/// checked.
class Pairs {
 public:
  explicit Pairs(Breaches& breaches) : breaches_(breaches) {}
  void operator()(const Mutex& mutex) {
    Lease lease = mutex.acquire();
    if (lease.token() <= token_)
      breaches_.add("token " + std::to_string(lease.token()) + " came after " +
                    std::to_string(token_));
    token_ = lease.token();
    give_back(lease);
  }

 private:
  Breaches& breaches_;
  std::uint64_t token_ = 0;
};

}  // namespace holdfast::bench
