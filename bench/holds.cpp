#include "holds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace holdfast::bench {

void Ledger::check(std::vector<Hold>& holds) {
  std::ranges::sort(holds, {},
                    [](const Hold& hold) { return std::tuple(hold.name, hold.acquired); });
  for (const Hold& hold : holds) {
    const auto [found, first] = last_.try_emplace(hold.name, hold);
    if (first) continue;
    Hold& last = found->second;
    if (hold.acquired < last.released)
      breaches_.add(fmt::format("{}: {} held resource {} for {} ns while {} still did", what_,
                                hold.who, hold.name, last.released - hold.acquired, last.who));
    if (hold.token <= last.token)
      breaches_.add(fmt::format("{}: {} got token {} of resource {} after {} had got {}", what_,
                                hold.who, hold.token, hold.name, last.who, last.token));
    if (hold.released > last.released) last = hold;
  }
}

std::size_t changes_of_owner(const std::vector<Hold>& holds) {
  std::size_t changes = 0;
  for (std::size_t i = 1; i < holds.size(); ++i)
    changes += holds[i].who != holds[i - 1].who ? 1U : 0U;
  return changes;
}

void hand_overs(const std::vector<Hold>& holds, std::vector<Duration>& to) {
  for (std::size_t i = 1; i < holds.size(); ++i)
    if (holds[i].who != holds[i - 1].who && holds[i].asked < holds[i - 1].released)
      to.emplace_back(holds[i].acquired - holds[i - 1].released);
}

}  // namespace holdfast::bench
