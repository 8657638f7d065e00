#include "driver/record/lock_model.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/name.hpp"
#include "driver/record/lock_rules.hpp"

namespace holdfast::driver {

using namespace rules;

namespace {

constexpr std::uint64_t token_end = std::uint64_t{1} << 63U;

std::optional<Failure> check(const Request& request) {
  const Mode& mode = request.mode;
  if (mode.kind == ModeKind::permits && (mode.count == 0 || mode.count > mode.limit))
    return Failure{errc::bad_argument, "a request for " + std::to_string(mode.count) +
                                           " permits of a limit of " + std::to_string(mode.limit) +
                                           " can never be granted"};
  if (request.names.empty() || request.ttl <= Duration::zero() || request.token_block == 0)
    return Failure{errc::bad_argument, "a request needs a name, a TTL and at least one token"};
  return std::nullopt;
}

}  // namespace

Duration LockModel::waiter_window(Duration ttl) noexcept {
  return std::min<Duration>(ttl, std::chrono::seconds(6));
}

LockModel::LockModel(RecordStore& store, const Self& self, Instant now,
                     std::chrono::system_clock::time_point wall, std::vector<Hint>& hints) noexcept
    : store_(store), self_(self), now_(now), wall_(wall), hints_(hints) {}

LockModel::Rows LockModel::rows(const Names& names) {
  if (names.size() == 1) {
    one_ = &store_.record(names.front());
    return {&one_, 1};
  }
  many_.clear();
  for (const auto& name : names) many_.push_back(&store_.record(name));
  return many_;
}

bool LockModel::alive(const Waiter& waiter) const noexcept {
  return waiter.alive_until > now_ &&
         (waiter.client == self_.client || store_.alive(waiter.client));
}

bool LockModel::waited_for(const Record& record, std::uint64_t before) const noexcept {
  return std::any_of(record.waiters.begin(), record.waiters.end(),
                     [&](const Waiter& waiter) { return waiter.ticket < before && alive(waiter); });
}

Result<LockModel::Standing> LockModel::acquire(const Request& request, bool may_wait,
                                               bool unheard) {
  if (auto failure = check(request)) return *std::move(failure);
  const Rows rows = this->rows(request.names);
  if (rows.size() == 1 && rows[0]->idle() && rows[0]->last != request.id) {  // most often
    auto grant = this->grant(request, rows);
    if (!grant) return grant.failure();
    return Standing{.grant = std::move(*grant)};
  }
  const bool queued = heartbeat(request, rows);
  settle(request.names);

  if (auto grant = held(request, rows)) {
    if (mode_of(request.id, *rows.front()) == request.mode) return Standing{.grant = grant};
    if (!downgrade(request, rows))
      return Failure{errc::bad_argument,
                     "a lease on " + quoted(request.names.front()) +
                         " keeps its mode: only an exclusive one can be turned into a shared one"};
    settle(request.names);
    return Standing{.grant = held(request, rows)};
  }
  if (queued && may_wait) return standing(request, rows);
  if (queued && leave_queue(request, rows)) settle(request.names);

  const bool ended = !unheard && std::any_of(rows.begin(), rows.end(), [&](const Record* row) {
    return row->last == request.id && row->ended != Predecessor::none;
  });
  const bool rest = end_rest(request, rows);
  if (rest) settle(request.names);
  if (ended || (rest && !unheard))
    return Failure{errc::lost, "this request for " + quoted(request.names.front()) +
                                   " was granted before, and that lease has ended"};

  for (std::size_t i = 0; i < rows.size(); ++i)
    if (auto other = other_limit(*rows[i], request.mode, now_))
      return Failure{errc::misconfigured, quoted(request.names[i]) + " is in use with a limit of " +
                                              std::to_string(*other) +
                                              " permits, and this request says " +
                                              std::to_string(request.mode.limit) +
                                              "; all users of a semaphore must agree on its limit"};
  const bool free = std::all_of(rows.begin(), rows.end(), [&](const Record* row) {
    return fits(*row, request.mode) && !waited_for(*row, no_ticket);
  });
  if (free) {
    auto grant = this->grant(request, rows);
    if (!grant) return grant.failure();
    return Standing{.grant = std::move(*grant)};
  }
  if (!may_wait) return Failure{errc::timeout, blockers(request)};
  enqueue(request, rows);
  return standing(request, rows);
}

LockModel::Standing LockModel::look(const Request& request) {
  const Rows rows = this->rows(request.names);
  if (auto grant = held(request, rows)) return Standing{.grant = std::move(grant)};
  return standing(request, rows);
}

std::optional<Grant> LockModel::withdraw(const Request& request) {
  const Rows rows = this->rows(request.names);
  if (auto grant = held(request, rows)) return grant;
  // Out of the queue before anything is handed over: who leaves gets nothing.
  if (const bool left = leave_queue(request, rows); end_rest(request, rows) || left)
    settle(request.names);
  return std::nullopt;
}

std::optional<std::uint64_t> LockModel::next_token(const Record& record, std::uint32_t block) {
  const auto wall =
      std::chrono::duration_cast<std::chrono::microseconds>(wall_.time_since_epoch()).count();
  const auto token = std::max({record.token + 1, store_.token_floor() + 1,
                               static_cast<std::uint64_t>(std::max<std::int64_t>(wall, 1))});
  if (token >= token_end - block) return std::nullopt;
  return token;
}

std::optional<Grant> LockModel::held(const Request& request, Rows rows) const {
  Grant grant;
  for (const Record* row : rows) {
    const auto at = find_holder(*row, request.id);
    if (at == npos || over(row->holders[at])) return std::nullopt;
    const Holder& holder = row->holders[at];
    grant.tokens.push_back(holder.token);
    grant.token_block = holder.token_block;
    grant.ttl = holder.expires - now_;
    grant.predecessor = std::max(grant.predecessor, holder.predecessor);
    grant.contended = grant.contended || contended(*row, now_);
  }
  return grant;
}

bool LockModel::downgrade(const Request& request, Rows rows) {
  if (request.mode.kind != ModeKind::shared) return false;
  for (const Record* row : rows)
    if (mode_of(request.id, *row).kind != ModeKind::exclusive) return false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i]->holders[find_holder(*rows[i], request.id)].mode = request.mode;
    store_.changed(request.names[i]);
  }
  return true;
}

Result<Grant> LockModel::grant(const Request& request, Rows rows) {
  Grant grant;
  grant.token_block = request.token_block;
  grant.ttl = request.ttl;
  grant.tokens.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto token = next_token(*rows[i], request.token_block);
    if (!token)  // before anything is changed
      return Failure{errc::misconfigured,
                     "the fencing tokens of " + quoted(request.names[i]) + " are used up"};
    grant.tokens.push_back(*token);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Record& record = *rows[i];
    record.token = grant.tokens[i] + request.token_block - 1;
    grant.predecessor = std::max(grant.predecessor, record.ended);
    grant.contended = grant.contended || contended(record, now_);
    record.holders.push_back({.lease = request.id,
                              .client = self_.client,
                              .owner = request.owner,
                              .label = self_.label,
                              .note = request.note,
                              .mode = request.mode,
                              .token = grant.tokens[i],
                              .token_block = request.token_block,
                              .since = wall_,
                              .expires = now_ + request.ttl,
                              .ttl = request.ttl,
                              .predecessor = record.ended});
    store_.changed(request.names[i]);
  }
  return grant;
}

LockModel::Standing LockModel::standing(const Request& request, Rows rows) const {
  Standing standing{.look_again = Instant::max()};
  standing.queued = true;
  for (const Record* row : rows) {
    const auto at = find_waiter(*row, request.id);
    if (at == npos) {
      standing.queued = false;
      continue;
    }
    const auto first = row->waiters.begin();
    const auto ahead = std::count_if(first, first + static_cast<std::ptrdiff_t>(at),
                                     [&](const Waiter& waiter) { return alive(waiter); });
    standing.ahead = std::max(standing.ahead, static_cast<std::size_t>(ahead));
    for (const Holder& holder : row->holders)
      standing.look_again = std::min(standing.look_again, holder.expires);
  }
  return standing;
}

void LockModel::enqueue(const Request& request, Rows rows) {
  Waiter waiter{.lease = request.id,
                .client = self_.client,
                .owner = request.owner,
                .label = self_.label,
                .note = request.note,
                .mode = request.mode,
                .ttl = request.ttl,
                .token_block = request.token_block,
                .ticket = store_.next_ticket(),
                .alive_until = now_ + waiter_window(request.ttl),
                .names = request.names};
  if (waiter.names.size() == 1) waiter.names.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!waited_for(*rows[i], waiter.ticket))  // later ones tell the holder nothing new
      for (const Holder& holder : rows[i]->holders)
        hints_.push_back({holder.client, Hint::Kind::wanted, holder.lease});
    rows[i]->waiters.push_back(waiter);
    store_.changed(request.names[i]);
  }
}

/// True if it is queued, which it is in all of its names or not at all: who was dropped from one of
/// them while asleep has lost its place.
bool LockModel::heartbeat(const Request& request, Rows rows) {
  const bool queued = std::all_of(rows.begin(), rows.end(), [&](const Record* row) {
    return find_waiter(*row, request.id) != npos;
  });
  if (!queued) {
    (void)leave_queue(request, rows);  // settled by the caller
    return false;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Waiter& waiter = rows[i]->waiters[find_waiter(*rows[i], request.id)];
    waiter.alive_until = now_ + waiter_window(waiter.ttl);
    store_.changed(request.names[i]);
  }
  return true;
}

}  // namespace holdfast::driver
