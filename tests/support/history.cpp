#include "support/history.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <sstream>

namespace holdfast::test {
namespace {

using Instant = History::Instant;
using Tenure = History::Tenure;
using Violation = History::Violation;

template <class Entry>
std::map<std::string, std::vector<Entry>> by_key(const std::vector<Entry>& entries) {
  std::map<std::string, std::vector<Entry>> keys;
  for (const Entry& entry : entries) keys[entry.key].push_back(entry);
  return keys;
}

std::string microseconds(std::chrono::nanoseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(time).count()) +
         " us";
}

std::string label(const Tenure& tenure) {
  return tenure.who + " (token " + std::to_string(tenure.token) + ")";
}

}  // namespace

void History::add(Tenure tenure) {
  const std::lock_guard lock(mutex_);
  tenures_.push_back(std::move(tenure));
}

void History::add(Write write) {
  const std::lock_guard lock(mutex_);
  writes_.push_back(std::move(write));
}

void History::add(Wait wait) {
  const std::lock_guard lock(mutex_);
  waits_.push_back(std::move(wait));
}

std::size_t History::tenures() const {
  const std::lock_guard lock(mutex_);
  return tenures_.size();
}

std::vector<Violation> History::fenced_exclusion() const {
  std::vector<Violation> found;
  for (const auto& [key, writes] : by_key(writes_)) {
    std::uint64_t highest = 0;
    std::map<std::uint64_t, std::string> owners;
    for (const Write& write : writes) {
      if (!write.accepted) continue;
      if (write.token < highest)
        found.push_back({"C1", key + ": " + write.who + " wrote with token " +
                                   std::to_string(write.token) + " after token " +
                                   std::to_string(highest)});
      highest = std::max(highest, write.token);
      const auto& owner = owners.emplace(write.token, write.who).first->second;
      if (owner != write.who)
        found.push_back({"C1", key + ": token " + std::to_string(write.token) + " was used by " +
                                   owner + " and by " + write.who});
    }
  }
  return found;
}

std::vector<Violation> History::token_order() const {
  std::vector<Violation> found;
  for (auto& [key, tenures] : by_key(tenures_)) {
    // In order of invocation, against the highest token granted before that instant.
    std::vector<const Tenure*> asked;
    for (const Tenure& tenure : tenures) asked.push_back(&tenure);
    std::vector<const Tenure*> granted = asked;
    std::ranges::sort(asked, {}, &Tenure::invoked);
    std::ranges::sort(granted, {}, &Tenure::granted);
    const Tenure* highest = nullptr;
    auto next = granted.begin();
    for (const Tenure* tenure : asked) {
      for (; next != granted.end() && (*next)->granted < tenure->invoked; ++next)
        if (!highest || (*next)->token > highest->token) highest = *next;
      if (highest && tenure->token <= highest->token)
        found.push_back({"C2", key + ": " + label(*tenure) + " asked after " + label(*highest) +
                                   " had been granted"});
    }
    std::map<std::uint64_t, const Tenure*> exclusive;
    for (const Tenure* tenure : asked)
      if (!tenure->shared && !exclusive.emplace(tenure->token, tenure).second)
        found.push_back({"C2", key + ": the token of " + label(*tenure) + " was given to " +
                                   exclusive[tenure->token]->who + " too"});
  }
  return found;
}

std::vector<Violation> History::belief_overlap() const {
  std::vector<Violation> found;
  for (auto [key, tenures] : by_key(tenures_)) {
    std::ranges::sort(tenures, {}, &Tenure::granted);
    // The one that believes longest among those before, of each kind: enough to see any overlap.
    const Tenure* writer = nullptr;
    const Tenure* reader = nullptr;
    for (const Tenure& tenure : tenures) {
      for (const Tenure* other : {writer, tenure.shared ? nullptr : reader})
        if (other && other->believed > tenure.granted)
          found.push_back({"C3", key + ": " + label(tenure) + " held while " + label(*other) +
                                     " still believed, for " +
                                     microseconds(std::min(other->believed, tenure.believed) -
                                                  tenure.granted)});
      const Tenure*& last = tenure.shared ? reader : writer;
      if (!last || tenure.believed > last->believed) last = &tenure;
    }
  }
  return found;
}

std::vector<Violation> History::lost_wake_up(std::chrono::nanoseconds bound) const {
  std::vector<Violation> found;
  const auto all_waits = by_key(waits_);
  for (auto [key, tenures] : by_key(tenures_)) {
    struct Waiting {
      Instant from;
      Instant to;
      std::string who;
    };
    std::vector<Waiting> waiting;
    for (const Tenure& tenure : tenures)
      waiting.push_back({tenure.invoked, tenure.granted, tenure.who});
    if (const auto waits = all_waits.find(key); waits != all_waits.end())
      for (const Wait& wait : waits->second)
        waiting.push_back({wait.invoked, wait.ended, wait.who});

    // Free: after all earlier ones are over in the store and before the next one is granted.
    std::ranges::sort(tenures, {}, &Tenure::granted);
    Instant free = Instant::min();
    const auto judge = [&](Instant from, Instant to) {
      for (const Waiting& waiter : waiting) {
        const auto idle = std::min(to, waiter.to) - std::max(from, waiter.from);
        if (std::max(from, waiter.from) < std::min(to, waiter.to) && idle > bound)
          found.push_back({"C5", key + ": " + waiter.who + " waited for " + microseconds(idle) +
                                     " though it was free"});
      }
    };
    for (const Tenure& tenure : tenures) {
      if (free < tenure.granted) judge(free, tenure.granted);
      free = std::max(free, tenure.until);
    }
    judge(free, Instant::max());
  }
  return found;
}

std::vector<Violation> History::check(std::chrono::nanoseconds wake_up_bound) const {
  std::vector<Violation> found = fenced_exclusion();
  for (auto& more : {token_order(), belief_overlap(), lost_wake_up(wake_up_bound)})
    found.insert(found.end(), more.begin(), more.end());
  return found;
}

std::ostream& operator<<(std::ostream& out, const Violation& violation) {
  return out << violation.check << ' ' << violation.words;
}

}  // namespace holdfast::test
