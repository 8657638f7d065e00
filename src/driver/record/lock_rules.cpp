#include "driver/record/lock_rules.hpp"

#include <algorithm>

namespace holdfast::driver::rules {
namespace {

template <class List>
std::size_t find(const List& list, const Id& lease) noexcept {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].lease == lease) return i;
  return npos;
}

}  // namespace

std::size_t find_holder(const Record& record, const Id& lease) noexcept {
  return find(record.holders, lease);
}

std::size_t find_waiter(const Record& record, const Id& lease) noexcept {
  return find(record.waiters, lease);
}

const Mode& mode_of(const Id& lease, const Record& record) noexcept {
  return record.holders[find_holder(record, lease)].mode;
}

bool fits(const Record& record, const Mode& mode) noexcept {
  if (record.holders.empty()) return true;
  if (mode.kind == ModeKind::exclusive) return false;
  std::uint64_t taken = 0;
  for (const Holder& holder : record.holders) {
    if (holder.mode.kind != mode.kind) return false;
    if (mode.kind == ModeKind::permits && holder.mode.limit != mode.limit) return false;
    taken += holder.mode.count;
  }
  return mode.kind == ModeKind::shared || taken + mode.count <= mode.limit;
}

std::optional<std::uint32_t> other_limit(const Record& record, const Mode& mode,
                                         Instant now) noexcept {
  if (mode.kind != ModeKind::permits) return std::nullopt;
  const auto differs = [&](const Mode& other) {
    return other.kind == ModeKind::permits && other.limit != mode.limit;
  };
  for (const Holder& holder : record.holders)
    if (differs(holder.mode)) return holder.mode.limit;
  for (const Waiter& waiter : record.waiters)
    if (waiter.alive_until > now && differs(waiter.mode)) return waiter.mode.limit;
  return std::nullopt;
}

bool contended(const Record& record, Instant now) noexcept {
  return std::any_of(record.waiters.begin(), record.waiters.end(),
                     [now](const Waiter& waiter) { return waiter.alive_until > now; });
}

}  // namespace holdfast::driver::rules
