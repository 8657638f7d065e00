#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/client.hpp>

#include "base/id.hpp"
#include "driver/driver.hpp"
#include "support/timing.hpp"

namespace holdfast::test {

enum class Step { acquire, renew, release, inspect, list, revoke, read, write, watch };
inline constexpr std::size_t step_count = 9;

/// What goes wrong between a client and its store.
struct Fault {
  enum class Kind {
    none,
    refuse,        ///< fails with `code`; the store never hears of it
    lose_reply,    ///< the store does it; the client gets `code`
    hold_request,  ///< the store hears of it only after Faults::let_go()
    hold_reply,    ///< the store does it; the client hears of it only after Faults::let_go()
    duplicate,     ///< the store gets it twice; the client gets the first answer
  };
  Kind kind = Kind::none;
  errc code = errc::unavailable;
  std::string name{};  ///< only for this resource; in a batch of renewals, only for its part
  /// What is held is given up after the client's request timeout with errc::unknown, as a driver
  /// does when no answer comes. `endless`: not even that happens.
  bool endless = false;
};

inline Fault refuse(errc code = errc::unavailable) {
  return {.kind = Fault::Kind::refuse, .code = code};
}
inline Fault lose_reply() { return {.kind = Fault::Kind::lose_reply, .code = errc::unknown}; }
inline Fault hold_request() { return {.kind = Fault::Kind::hold_request}; }
inline Fault hold_reply() { return {.kind = Fault::Kind::hold_reply}; }
inline Fault duplicate() { return {.kind = Fault::Kind::duplicate}; }
inline Fault endless(Fault fault) {
  fault.endless = true;
  return fault;
}
inline Fault only(std::string name, Fault fault) {
  fault.name = std::move(name);
  return fault;
}

/// The faults that the clients made by it meet, and a record of what they ask. Thread-safe.
class Faults {
 public:
  Faults();

  /// A client of a store with these faults in between.
  [[nodiscard]] Client client(const std::string& store_url, ClientOptions options = {}) const;

  void next(Step step, Fault fault,
            int times = 1);             ///< for the next calls, after those said before
  void always(Step step, Fault fault);  ///< for all calls for which next() says nothing
  void all(Fault fault);                ///< always, for each step
  void clear();                         ///< no more faults; what is held stays held
  void let_go();                        ///< what is held goes on
  void mute_events(bool muted);         ///< swallows what the store tells without being asked
  void tell(driver::Event event);       ///< makes an event up

  struct Call {
    Step step;
    boot_clock::time_point at;
    std::vector<driver::RequestPtr> requests;  ///< acquire, release: one; renew: the batch
    std::optional<boot_clock::time_point>
        answered;  ///< by the store, whatever became of the answer
  };
  [[nodiscard]] std::vector<Call> calls(Step step) const;
  [[nodiscard]] int count(Step step) const;
  /// Waits until as many calls of this kind have been made in all.
  [[nodiscard]] bool wait_for(Step step, int calls,
                              std::chrono::milliseconds limit = patience) const;

  class Hub;  ///< what the drivers share with it

 private:
  std::shared_ptr<Hub> hub_;
};

}  // namespace holdfast::test
