#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <vector>

#include <holdfast/clock.hpp>

#include "demo/half.hpp"
#include "descriptor.hpp"

namespace holdfast::cli {

/// The processes of one half. All are killed when it goes out of scope.
class Buyers {
 public:
  Buyers(const HalfPlan& plan, const sigset_t& signal_mask);
  ~Buyers();
  Buyers(const Buyers&) = delete;
  Buyers& operator=(const Buyers&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] int events() const noexcept { return events_.read.get(); }
  /// They wait for this when they are ready.
  void start() { start_.write.close(); }

  /// Looks who has ended, and replaces those that were killed on purpose. Throws Complaint when one
  /// failed.
  void look_after();
  [[nodiscard]] bool all_done() const noexcept;

  void kill(std::size_t buyer);
  void stop(std::size_t buyer, boot_clock::time_point until);
  void continue_those_due();
  [[nodiscard]] std::optional<boot_clock::time_point> next_due() const;
  /// Neither stopped nor gone.
  [[nodiscard]] bool runs(std::size_t buyer) const noexcept;

 private:
  struct One {
    pid_t pid = -1;  ///< -1: has ended
    bool killed = false;
    std::optional<boot_clock::time_point> stopped_until{};
  };
  void spawn(std::size_t buyer);

  const HalfPlan& plan_;
  sigset_t signal_mask_;
  Pipe events_, start_;
  std::vector<One> all_;
};

}  // namespace holdfast::cli
