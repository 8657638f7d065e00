#pragma once

#include <memory>

#include "base/clock.hpp"
#include "base/loop.hpp"
#include "driver/driver.hpp"

namespace holdfast::client {

/// A release in the background of something that may or may not be ours: goes on until the store
/// has answered, or has forgotten the lease by itself at `until`. Used on the loop only.
class Compensation {
 public:
  Compensation(Loop& loop, driver::Driver& driver, driver::RequestPtr request, Instant until,
               Task ended);
  void start();

 private:
  Loop::Timer timer_;
  driver::Driver& driver_;
  driver::RequestPtr request_;
  Instant until_;
  Duration pause_ = std::chrono::milliseconds(50);
  Task ended_;
};

}  // namespace holdfast::client
