#pragma once

#include <memory>

#include "base/clock.hpp"
#include "base/loop.hpp"
#include "driver/driver.hpp"

namespace holdfast::client {

/// A release in the background of something that may or may not be ours: goes on until the store
/// has forgotten the lease by itself at `until`, or has proved before that nothing is left of it.
/// Used on the loop only.
class Compensation {
 public:
  /// What is proof enough?
  enum class Until {
    answered,  ///< any answer: it was granted, so if it is not ours now it never will be
    released,  ///< only a release: the acquire may still be on its way, and arrive after an answer
  };

  Compensation(Loop& loop, driver::Driver& driver, driver::RequestPtr request, Instant until,
               Until proof, Task ended);
  void start();

 private:
  Loop::Timer timer_;
  driver::Driver& driver_;
  driver::RequestPtr request_;
  Instant until_;
  Until proof_;
  Duration pause_ = std::chrono::milliseconds(50);
  Task ended_;
};

}  // namespace holdfast::client
