#pragma once

#include <memory>
#include <string>
#include <vector>

#include <holdfast/options.hpp>
#include <holdfast/resource.hpp>

#include "base/clock.hpp"
#include "driver/driver.hpp"

namespace holdfast::client {

class Engine;
struct Lane;

/// What a Mutex or another lease source is made of: checked once, immutable afterwards.
struct Recipe {
  std::shared_ptr<Engine> engine;
  driver::SharedNames names;  ///< canonical
  Mode mode;
  Duration ttl{};
  Duration max_hold{};  ///< zero: none
  bool auto_renew = true;
  bool reentrant = false;
  StopAt stop_at = StopAt::loss;
  std::string owner;  ///< empty: random per lease
  std::string note;
  std::shared_ptr<Lane> lane;  ///< one exclusive name: where its requests queue in process
};

}  // namespace holdfast::client
