#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/task.hpp"
#include "driver/record/record_store.hpp"

namespace holdfast::driver {

/// An Id that is good to read in a failing test.
inline Id id_of(std::uint8_t number) {
  Id id;
  id.bytes.fill(number);
  return id;
}

/// Records in maps, with transactions that can be told to go wrong.
class FakeStore final : public RecordStore {
 public:
  // What to do next: taken from the front, then all goes well.
  std::deque<Result<Begun>> begins;
  std::deque<std::pair<Committed, Failure>> commits;  ///< unknown: it was done nevertheless
  std::set<std::string, std::less<>> damaged;         ///< records that cannot be read

  std::map<std::string, Record, std::less<>> records;
  std::map<std::string, CellRecord, std::less<>> cells;
  std::uint64_t ticket = 0;
  std::uint64_t floor = 0;
  std::set<Id> dead;
  std::vector<Hint> rung;
  std::vector<Access> transactions;
  std::size_t begun = 0;
  UniqueFunction<void()> at_begin;

  Result<Begun> begin(Access access) override {
    ++begun;
    if (at_begin) at_begin();
    if (!begins.empty()) {
      auto next = std::move(begins.front());
      begins.pop_front();
      if (!next.ok() || *next == Begun::busy) return next;
    }
    transactions.push_back(access);
    before_ = {records, cells};
    return Begun::yes;
  }
  Committed commit(Failure& why) override {
    if (commits.empty()) return Committed::yes;
    const auto [outcome, failure] = std::move(commits.front());
    commits.pop_front();
    why = failure;
    if (outcome == Committed::no) rollback();
    return outcome;
  }
  void rollback() noexcept override { std::tie(records, cells) = before_; }

  Record& record(std::string_view name) override {
    if (damaged.contains(name)) throw Error(errc::misconfigured, "damaged: " + std::string(name));
    return records[std::string(name)];
  }
  void changed(std::string_view) override {}
  CellRecord& cell(std::string_view name) override { return cells[std::string(name)]; }
  void cell_changed(std::string_view) override {}
  std::vector<std::string> names(std::string_view prefix, std::size_t limit) override {
    std::vector<std::string> found;
    for (const auto& [name, record] : records)
      if (!record.idle() && name.starts_with(prefix) && found.size() < limit) found.push_back(name);
    return found;
  }
  std::uint64_t next_ticket() override { return ++ticket; }
  std::uint64_t token_floor() override { return floor; }
  void ring(const Hint& hint) noexcept override { rung.push_back(hint); }
  bool alive(const Id& client) noexcept override { return !dead.contains(client); }

 private:
  std::pair<decltype(records), decltype(cells)> before_;
};

}  // namespace holdfast::driver
