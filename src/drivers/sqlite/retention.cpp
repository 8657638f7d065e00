#include "drivers/sqlite/retention.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "driver/record/codec.hpp"
#include "driver/record/lock_model.hpp"

namespace holdfast::sqlite {
namespace {

constexpr std::int64_t period_s = 60;

bool is_over(const driver::Record& record, Instant now) {
  const auto ended = [now](const driver::Holder& holder) { return holder.expires <= now; };
  const auto gone = [now](const driver::Waiter& waiter) {
    return waiter.alive_until + driver::LockModel::waiter_retention <= now;
  };
  return std::all_of(record.holders.begin(), record.holders.end(), ended) &&
         std::all_of(record.waiters.begin(), record.waiters.end(), gone);
}

}  // namespace

Retention::Retention(Database& database)
    : count_idle_(database, "SELECT count(*) FROM holdfast_resource WHERE busy = 0"),
      // No index serves this, on purpose: each acquire and each release would pay for it.
      oldest_idle_(database,
                   "SELECT name, token, touched FROM holdfast_resource WHERE busy = 0 "
                   "ORDER BY touched LIMIT ?1"),
      drop_(database, "DELETE FROM holdfast_resource WHERE name = ?1"),
      stale_busy_(database,
                  "SELECT name, record FROM holdfast_resource "
                  "WHERE busy = 1 AND touched < ?1 AND name > ?2 ORDER BY name LIMIT 100"),
      put_(database,
           "UPDATE holdfast_resource SET busy = 0, touched = ?2, record = ?3 WHERE name = ?1") {}

void Retention::run(Meta& meta, Instant now, std::int64_t unix_now) {
  const bool many_new = added_ >= max_added;
  next_ = now + std::chrono::seconds(period_s);
  const auto last = static_cast<std::int64_t>(meta.number(Meta::purged));
  if (!many_new && last <= unix_now && unix_now - last < period_s) return;  // another client did
  added_ = 0;

  end_forgotten(now, unix_now);
  if (!count_idle_.step()) return;
  const std::size_t idle = static_cast<std::size_t>(count_idle_.number(0));
  count_idle_.reset();
  const std::size_t excess = idle > keep_idle ? idle - keep_idle : 0;

  std::vector<std::string> names;
  std::uint64_t highest = 0;
  oldest_idle_.bind(1, std::uint64_t{max_dropped});
  while (oldest_idle_.step()) {
    if (oldest_idle_.integer(2) >= unix_now - keep_s && names.size() >= excess) break;
    names.emplace_back(oldest_idle_.bytes(0));
    highest = std::max(highest, oldest_idle_.number(1));
  }
  oldest_idle_.reset();
  if (highest > meta.number(Meta::floor)) meta.set(Meta::floor, highest);
  for (const std::string& name : names) drop_.bind(1, name).run();
  meta.set(Meta::purged, static_cast<std::uint64_t>(unix_now));
}

/// Holders that crashed leave their record busy until someone asks for that name again, which for
/// names that are used once is never.
void Retention::end_forgotten(Instant now, std::int64_t unix_now) {
  std::vector<std::pair<std::string, driver::Record>> records;
  std::size_t seen = 0;
  stale_busy_.bind(1, unix_now - keep_s).bind(2, hand_);
  std::string last;
  while (stale_busy_.step()) {
    ++seen;
    last = stale_busy_.bytes(0);
    auto record = driver::decode_record(stale_busy_.bytes(1));
    // A damaged one is reported to whoever asks for it, not to everybody.
    if (record && is_over(*record, now)) records.emplace_back(last, *std::move(record));
  }
  stale_busy_.reset();
  hand_ = seen < 100 ? std::string() : last;
  for (auto& [name, record] : records) {
    end_all(record);
    const std::string bytes = driver::encode(record);
    put_.bind(1, name).bind(2, unix_now).bind_blob(3, bytes).run();
  }
}

}  // namespace holdfast::sqlite
