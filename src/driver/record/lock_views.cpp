// LockModel: what people see of a resource, and cells.

#include <algorithm>

#include "base/duration.hpp"
#include "base/name.hpp"
#include "driver/record/lock_model.hpp"
#include "driver/record/lock_rules.hpp"

namespace holdfast::driver {

using namespace rules;
using std::chrono::milliseconds;

namespace {

/// Most owners are anonymous: then the lease's identity stands for them.
std::string owner_of(const auto& entry) {
  return entry.owner.empty() ? entry.lease.hex() : entry.owner;
}

/// As exact as people want it in a sentence: `18s`, `2m5s`, `40ms`.
std::string rounded(Duration duration) {
  duration = std::max(duration, Duration::zero());
  if (duration >= std::chrono::seconds(1))
    return format_duration(std::chrono::floor<std::chrono::seconds>(duration));
  if (duration >= milliseconds(1))
    return format_duration(std::chrono::floor<milliseconds>(duration));
  return format_duration(duration);
}

std::string count_of(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace

std::string LockModel::blockers(const Request& request) {
  const Rows rows = this->rows(request.names);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Record& record = *rows[i];
    const auto in_force = [this](const Holder& holder) { return !over(holder); };
    const auto holder = std::find_if(record.holders.begin(), record.holders.end(), in_force);
    if (holder == record.holders.end() || fits(record, request.mode)) continue;

    const auto others = std::count_if(record.holders.begin(), record.holders.end(), in_force) - 1;
    constexpr std::chrono::system_clock::time_point epoch{};
    std::string words = quoted(request.names[i]) + " is held by " + owner_of(*holder) + " (" +
                        holder->label + ", token " + std::to_string(holder->token) + ", for " +
                        rounded(wall_ - std::max(holder->since, epoch)) + ", expires in " +
                        rounded(holder->expires - now_) + ")";
    if (others > 0)
      words += " and " + count_of(static_cast<std::size_t>(others), "other", "others");
    return words;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& waiters = rows[i]->waiters;
    const auto count = std::count_if(waiters.begin(), waiters.end(), [&](const Waiter& waiter) {
      return waiter.lease != request.id && alive(waiter);
    });
    if (count > 0)
      return quoted(request.names[i]) + " goes to " +
             count_of(static_cast<std::size_t>(count), "other that waits", "others that wait") +
             " for it first";
  }
  return quoted(request.names.front()) + " is busy";
}

ResourceInfo LockModel::inspect(std::string_view name) {
  const Record& record = store_.record(name);
  ResourceInfo info{.name = std::string(name), .token = record.token, .holders = {}, .waiters = {}};
  for (const Holder& holder : record.holders) {
    if (over(holder)) continue;
    info.holders.push_back({.owner = owner_of(holder),
                            .client = holder.label,
                            .token = holder.token,
                            .mode = holder.mode,
                            .since = holder.since,
                            .expires_in = std::chrono::ceil<milliseconds>(holder.expires - now_),
                            .note = holder.note});
  }
  for (const Waiter& waiter : record.waiters)
    info.waiters.push_back({.owner = owner_of(waiter),
                            .client = waiter.label,
                            .mode = waiter.mode,
                            .note = waiter.note,
                            .alive = alive(waiter)});
  return info;
}

CellValue LockModel::read(std::string_view name) {
  const CellRecord& cell = store_.cell(name);
  return {.value = cell.value, .version = cell.version};
}

Result<std::uint64_t> LockModel::write(std::string_view name, std::string value,
                                       std::uint64_t expected) {
  CellRecord& cell = store_.cell(name);
  if (cell.version != expected)
    return Failure{errc::conflict, "the cell " + quoted(name) + " has version " +
                                       std::to_string(cell.version) + ", and not " +
                                       std::to_string(expected) + " as expected"};
  cell.version = (cell.version == 0 ? store_.token_floor() : cell.version) + 1;
  cell.value = std::move(value);
  for (const auto& watcher : cell.watchers)
    hints_.push_back({watcher.client, Hint::Kind::written, watcher.watch});
  cell.watchers.clear();  // each hears of one write, then looks and asks again
  store_.cell_changed(name);
  return cell.version;
}

std::optional<CellValue> LockModel::watch(std::string_view name, std::uint64_t since,
                                          const Id& watch) {
  CellRecord& cell = store_.cell(name);
  if (cell.version > since) {
    unwatch(name, watch);
    return CellValue{.value = cell.value, .version = cell.version};
  }
  std::erase_if(cell.watchers, [&](const CellRecord::Watcher& watcher) {
    return watcher.watch == watch || watcher.alive_until <= now_;
  });
  cell.watchers.push_back({watch, self_.client, now_ + watch_window});
  store_.cell_changed(name);
  return std::nullopt;
}

void LockModel::unwatch(std::string_view name, const Id& watch) {
  const auto erased =
      std::erase_if(store_.cell(name).watchers,
                    [&](const CellRecord::Watcher& watcher) { return watcher.watch == watch; });
  if (erased > 0) store_.cell_changed(name);
}

}  // namespace holdfast::driver
