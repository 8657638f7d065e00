#include "client/keeper.hpp"

#include <algorithm>

namespace holdfast::client {

namespace {

Instant valid_until(const Tenure& tenure) noexcept {
  return Instant(Duration(tenure.valid_until.load(std::memory_order_relaxed)));
}

Instant hold_limit(const Tenure& tenure) noexcept {
  return Instant(Duration(tenure.hold_limit.load(std::memory_order_relaxed)));
}

bool lost(const Tenure& tenure) noexcept {
  return tenure.standing.load(std::memory_order_relaxed) == Tenure::Standing::lost;
}

}  // namespace

void Keeper::add(Tenure& tenure) noexcept {
  tenure.before = nullptr;
  tenure.after = first_;
  if (first_) first_->before = &tenure;
  first_ = &tenure;
  tenure.kept = true;
  ++size_;
}

void Keeper::remove(Tenure& tenure) noexcept {
  if (!tenure.kept) return;
  (tenure.before ? tenure.before->after : first_) = tenure.after;
  if (tenure.after) tenure.after->before = tenure.before;
  tenure.kept = false;
  --size_;
}

Instant Keeper::renewal_at(const Tenure& tenure) noexcept {
  if (!tenure.auto_renew || tenure.renewing) return Instant::max();
  const Instant at = std::max(tenure.basis + tenure.ttl / 3, tenure.retry_at);
  // The hold limit ends renewal: what is confirmed reaches it already.
  return tenure.basis + tenure.ttl - drift_margin(tenure.ttl) >= hold_limit(tenure) ? Instant::max()
                                                                                    : at;
}

Instant Keeper::jeopardy_at(const Tenure& tenure) noexcept {
  if (!tenure.auto_renew ||
      tenure.standing.load(std::memory_order_relaxed) != Tenure::Standing::held)
    return Instant::max();
  return tenure.basis + tenure.ttl / 2 >= hold_limit(tenure) ? Instant::max()
                                                             : tenure.basis + tenure.ttl / 2;
}

std::vector<Tenure*> Keeper::due(Instant now) {
  bool any = false;
  for (Tenure* tenure = first_; tenure && !any; tenure = tenure->after)
    any = renewal_at(*tenure) <= now;
  std::vector<Tenure*> batch;
  if (!any) return batch;
  for (Tenure* tenure = first_; tenure; tenure = tenure->after) {
    const Instant at = renewal_at(*tenure);
    if (at == Instant::max() || at > now + tenure->ttl / 30 || tenure->retry_at > now) continue;
    tenure->renewing = true;
    batch.push_back(tenure);
  }
  return batch;
}

Instant Keeper::next_renewal() const noexcept {
  Instant next = Instant::max();
  for (const Tenure* tenure = first_; tenure; tenure = tenure->after)
    next = std::min(next, renewal_at(*tenure));
  return next;
}

void Keeper::renewed(Tenure& tenure, Instant basis, Duration ttl) noexcept {
  tenure.renewing = false;
  if (lost(tenure)) return;  // nothing resurrects it
  tenure.confirm(basis, ttl);
  tenure.standing.store(Tenure::Standing::held, std::memory_order_release);
}

void Keeper::failed(Tenure& tenure, Instant now) noexcept {
  tenure.renewing = false;
  tenure.retry_at = now + std::clamp<Duration>(tenure.ttl / 20, std::chrono::milliseconds(20),
                                               std::chrono::seconds(1));
}

Keeper::Verdicts Keeper::judge(Instant now) {
  Verdicts verdicts;
  for (Tenure* tenure = first_; tenure; tenure = tenure->after) {
    if (valid_until(*tenure) <= now)
      verdicts.lost.push_back(tenure);
    else if (jeopardy_at(*tenure) <= now)
      verdicts.doubtful.push_back(tenure);
  }
  return verdicts;
}

Instant Keeper::next_verdict() const noexcept {
  Instant next = Instant::max();
  for (const Tenure* tenure = first_; tenure; tenure = tenure->after)
    next = std::min({next, valid_until(*tenure), jeopardy_at(*tenure)});
  return next;
}

}  // namespace holdfast::client
