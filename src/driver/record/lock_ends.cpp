// LockModel: how leases and waits end, and what follows from it.

#include <algorithm>
#include <utility>

#include "driver/record/lock_model.hpp"
#include "driver/record/lock_rules.hpp"

namespace holdfast::driver {

using namespace rules;

namespace {

Predecessor as_predecessor(LossReason reason) noexcept {
  return reason == LossReason::revoked ? Predecessor::revoked : Predecessor::expired;
}

}  // namespace

Renewal LockModel::renew(const Request& request) {
  const Rows rows = this->rows(request.names);
  const auto gone = std::any_of(rows.begin(), rows.end(), [&](const Record* row) {
    const auto at = find_holder(*row, request.id);
    return at == npos || over(row->holders[at]);
  });
  if (gone) {
    const LossReason reason = why_gone(request, rows);
    if (end_rest(request, rows)) settle(request.names);
    return {.outcome = Renewal::Outcome::gone, .reason = reason};
  }
  Renewal renewal{.outcome = Renewal::Outcome::renewed, .ttl = request.ttl};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Holder& holder = rows[i]->holders[find_holder(*rows[i], request.id)];
    holder.expires = now_ + request.ttl;
    holder.ttl = request.ttl;
    store_.changed(request.names[i]);
    renewal.contended = renewal.contended || contended(*rows[i], now_);
  }
  return renewal;
}

Released LockModel::release(const Request& request) {
  const Rows rows = this->rows(request.names);
  const bool whole = std::all_of(rows.begin(), rows.end(), [&](const Record* row) {
    const auto at = find_holder(*row, request.id);
    return at != npos && !over(row->holders[at]);
  });
  if (whole) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      end(*rows[i], find_holder(*rows[i], request.id), Predecessor::released);
      store_.changed(request.names[i]);
    }
    if (rows.size() > 1 || !rows[0]->idle()) settle(request.names);
    return Released::released;
  }
  const bool ended = end_rest(request, rows);
  const bool left = leave_queue(request, rows);
  if (ended || left) settle(request.names);
  // Only a release of the whole leaves this mark, so one that is left of them is enough.
  const bool before = std::any_of(rows.begin(), rows.end(), [&](const Record* row) {
    return row->last == request.id && row->ended == Predecessor::released;
  });
  return before && !ended ? Released::released : Released::already_lost;
}

std::size_t LockModel::revoke(std::string_view resource) {
  const std::string name(resource);
  Record& record = store_.record(name);
  (void)expire(name, record);
  const std::size_t count = record.holders.size();
  for (const Holder& holder : record.holders)
    hints_.push_back({holder.client, Hint::Kind::lost, holder.lease});
  while (!record.holders.empty()) end(record, 0, Predecessor::revoked);
  if (record.token > 0) {  // what was never granted has no token to fence off
    ++record.token;
    store_.changed(name);
  }
  settle({name});
  return count;
}

std::optional<LossReason> LockModel::lost(const Request& request) {
  const Rows rows = this->rows(request.names);
  if (held(request, rows)) return std::nullopt;
  return why_gone(request, rows);
}

void LockModel::end(Record& record, std::size_t holder, Predecessor how) {
  record.last = record.holders[holder].lease;
  record.ended = how;
  record.holders.erase(record.holders.begin() + static_cast<std::ptrdiff_t>(holder));
}

/// Ends what is left of a lease that is not whole any more. True if there was something.
bool LockModel::end_rest(const Request& request, Rows rows) {
  const LossReason reason = why_gone(request, rows);
  bool any = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto at = find_holder(*rows[i], request.id);
    if (at == npos) continue;
    any = true;
    end(*rows[i], at, as_predecessor(over(rows[i]->holders[at]) ? LossReason::expired : reason));
    store_.changed(request.names[i]);
  }
  return any;
}

bool LockModel::leave_queue(const Request& request, Rows rows) {
  bool left = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto at = find_waiter(*rows[i], request.id);
    if (at == npos) continue;
    left = true;
    auto& waiters = rows[i]->waiters;
    waiters.erase(waiters.begin() + static_cast<std::ptrdiff_t>(at));
    store_.changed(request.names[i]);
  }
  return left;
}

/// Of a lease that is not whole. Where later ends have covered the trace, it has expired: nobody
/// else ends a lease without its holder's knowledge but an operator, and that moment ago.
LossReason LockModel::why_gone(const Request& request, Rows rows) const noexcept {
  bool released = false;
  for (const Record* row : rows) {
    if (row->last != request.id) continue;
    if (row->ended == Predecessor::revoked) return LossReason::revoked;
    released = released || row->ended == Predecessor::released;
  }
  return released ? LossReason::none : LossReason::expired;
}

/// Brings resources to rest: what has run out goes, and who is next and fits gets in.
void LockModel::settle(const Names& names) {
  Names affected;  // by a hand-over of several names at once
  for (const auto& name : names) hand_over(name, affected);
  while (!affected.empty()) {
    const std::string name = std::move(affected.back());
    affected.pop_back();
    hand_over(name, affected);
  }
}

/// Takes away holders that have expired, and waiters that have been dead for too long. True if a
/// holder went. Those of a set go from each of its records when that one is looked at.
bool LockModel::expire(const std::string& name, Record& record) {
  bool freed = false;
  for (std::size_t i = 0; i < record.holders.size();) {
    const Holder& holder = record.holders[i];
    if (!over(holder)) {
      ++i;
      continue;
    }
    hints_.push_back({holder.client, Hint::Kind::lost, holder.lease});
    end(record, i, Predecessor::expired);
    freed = true;
  }
  const auto dropped = std::erase_if(record.waiters, [this](const Waiter& waiter) {
    return waiter.alive_until < now_ - waiter_retention;
  });
  if (freed || dropped > 0) store_.changed(name);
  return freed;
}

void LockModel::hand_over(const std::string& name, Names& affected) {
  Record& record = store_.record(name);
  if (record.idle()) return;
  (void)expire(name, record);
  for (std::size_t i = 0; i < record.waiters.size();) {
    if (!alive(record.waiters[i])) {
      ++i;  // passed over, and keeps its place
    } else if (!admissible(name, record.waiters[i], affected) || !promote(name, i, affected)) {
      return;  // nobody overtakes a live one
    }
  }
}

/// Whether a waiter at the head of `name`'s queue fits there, and in all of its other names too.
bool LockModel::admissible(const std::string& name, const Waiter& waiter, Names& affected) {
  if (!fits(store_.record(name), waiter.mode)) return false;
  for (const auto& other : waiter.names) {
    if (other == name) continue;
    Record& record = store_.record(other);
    if (expire(other, record)) affected.push_back(other);
    if (!fits(record, waiter.mode) || waited_for(record, waiter.ticket)) return false;
  }
  return true;
}

/// Makes a waiter the holder in all of its names. False if a name has no tokens left.
bool LockModel::promote(const std::string& name, std::size_t at, Names& affected) {
  const Waiter waiter = store_.record(name).waiters[at];
  const Names names = waiter.names.empty() ? Names{name} : waiter.names;
  const auto exhausted = [&](const std::string& each) {
    return !next_token(store_.record(each), waiter.token_block);
  };
  if (std::any_of(names.begin(), names.end(), exhausted)) return false;

  const Instant expires = std::min(now_ + waiter.ttl, waiter.alive_until);
  for (const auto& each : names) {
    Record& record = store_.record(each);
    std::erase_if(record.waiters, [&](const Waiter& entry) { return entry.lease == waiter.lease; });
    const std::uint64_t token = *next_token(record, waiter.token_block);
    record.token = token + waiter.token_block - 1;
    record.holders.push_back({.lease = waiter.lease,
                              .client = waiter.client,
                              .owner = waiter.owner,
                              .label = waiter.label,
                              .note = waiter.note,
                              .mode = waiter.mode,
                              .token = token,
                              .token_block = waiter.token_block,
                              .since = wall_,
                              .expires = expires,
                              .ttl = waiter.ttl,
                              .predecessor = record.ended});
    store_.changed(each);
    if (each != name) affected.push_back(each);  // those behind it may fit now
  }
  hints_.push_back({waiter.client, Hint::Kind::granted, waiter.lease});
  return true;
}

}  // namespace holdfast::driver
