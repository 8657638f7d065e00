#include "client/compensation.hpp"

#include <algorithm>

namespace holdfast::client {

Compensation::Compensation(Loop& loop, driver::Driver& driver, driver::RequestPtr request,
                           Instant until, Until proof, Task ended)
    : timer_(loop),
      driver_(driver),
      request_(std::move(request)),
      until_(until),
      proof_(proof),
      ended_(std::move(ended)) {}

void Compensation::start() {
  driver_.release(request_, [this](const Result<driver::Released>& answer) {
    const Instant now = boot_clock::now();
    const bool proved =
        answer.ok() && (proof_ == Until::answered || answer.value() == driver::Released::released);
    if (proved || now >= until_) return ended_();
    timer_.arm(std::min(now + pause_, until_), [this] { start(); });
    pause_ = std::min<Duration>(pause_ * 2, std::chrono::seconds(2));
  });
}

}  // namespace holdfast::client
