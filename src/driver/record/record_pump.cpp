// RecordDriver: the queue of ops, and the transactions that they share.

#include <algorithm>
#include <iterator>

#include "base/duration.hpp"
#include "base/name.hpp"
#include "driver/record/record_ops.hpp"

namespace holdfast::driver {

using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t max_batch = 256;
constexpr std::size_t max_batch_leases = 1024;
constexpr Duration first_retry = microseconds(50);
constexpr Duration longest_retry = milliseconds(2);

/// Rolls back unless told that the transaction has ended.
struct Open {
  RecordStore* store;
  ~Open() {
    if (store) store->rollback();
  }
  void rollback() { std::exchange(store, nullptr)->rollback(); }
};

}  // namespace

void RecordDriver::schedule_pump() {
  if (pump_due_) return;
  pump_due_ = true;
  host_.loop.defer([this, present = std::weak_ptr(present_)] {
    if (!present.expired()) pump();
  });
}

void RecordDriver::pump() {
  pump_due_ = false;
  if (busy_rounds_ > 0) give_up_late();

  std::vector<std::unique_ptr<Op>> batch;
  std::vector<Op*> ops;
  for (std::size_t leases = 0; !queue_.empty() && batch.size() < max_batch;) {
    leases += queue_.front()->leases();
    if (leases > max_batch_leases && !batch.empty()) break;
    batch.push_back(std::move(queue_.front()));
    ops.push_back(batch.back().get());
    queue_.pop_front();
  }
  if (batch.empty()) return;
  if (!run(ops)) {
    queue_.insert(queue_.begin(), std::move_iterator(batch.begin()),
                  std::move_iterator(batch.end()));
    retry_later();
    return;
  }
  busy_rounds_ = 0;
  if (!queue_.empty()) schedule_pump();
}

/// The time of day, read once a second: it is for people, and to start tokens high.
std::chrono::system_clock::time_point RecordDriver::wall(Instant now) noexcept {
  if (wall_read_ == Instant::min() || now - wall_read_ > std::chrono::seconds(1)) {
    wall_read_ = now;
    wall_ = host_.clock.wall();
  }
  return wall_ + std::chrono::duration_cast<std::chrono::system_clock::duration>(now - wall_read_);
}

/// The store is being written by somebody else, for a moment as a rule.
void RecordDriver::retry_later() {
  pump_due_ = true;
  const Instant now = host_.clock.now();
  for (const auto& op : queue_)
    if (op->give_up == Instant::max())
      op->give_up = std::min(op->patience(), now + host_.request_timeout);

  const Duration delay = std::min(first_retry * (1 << std::min(busy_rounds_, 6U)), longest_retry);
  ++busy_rounds_;
  jitter_ = jitter_ * 1664525U +
            1013904223U;  // a half to one and a half of it, so that nobody marches in step
  retry_.arm(now + delay / 2 + delay * (jitter_ >> 24U) / 256, [this] { pump(); });
}

void RecordDriver::give_up_late() {
  const Instant now = host_.clock.now();
  std::vector<std::unique_ptr<Op>> late;
  for (auto& op : queue_)
    if (op->give_up <= now) late.push_back(std::move(op));
  if (late.empty()) return;
  std::erase(queue_, nullptr);

  const std::string waited = format_duration(host_.request_timeout);
  for (const auto& op : late) {
    if (!op->failure) {
      if (op->patience() <= now)
        op->failure = Failure{errc::timeout, "others kept the store locked until the wait ended"};
      else
        op->failure = Failure{errc::unavailable,
                              "others have kept the store locked for " + waited +
                                  ", and nothing was changed; look for a program that keeps a "
                                  "transaction open on it, or that was stopped within one"};
    }
    op->fail(*this, *op->failure);
  }
}

/// False if the store is busy: nothing has happened then.
bool RecordDriver::run(std::span<Op* const> ops) {
  std::vector<Hint> hints;
  std::vector<News> news;
  bool unsure = false;
  if (!attempt(ops, hints, news, unsure)) return false;

  for (Op* op : ops)
    if (!op->failure) op->accept(*this);
  accept(news);
  for (const Hint& hint : hints)
    if (hint.client != self_.client) store_->ring(hint);
  for (Op* op : ops) {
    if (op->failure)
      op->fail(*this, *op->failure);
    else
      op->finish(*this);
  }
  tell(news);
  if (unsure) recheck_all();
  return true;
}

bool RecordDriver::attempt(std::span<Op* const> ops, std::vector<Hint>& hints,
                           std::vector<News>& news, bool& unsure) {
  const auto fail_all = [ops](const Failure& why) {
    for (Op* op : ops)
      if (!op->failure) op->failure = why;
  };
  for (;;) {  // again without an op that could not be applied
    bool any = false;
    bool write = false;
    for (const Op* op : ops) {
      any = any || !op->failure;
      write = write || (!op->failure && op->writes());
    }
    if (!any) return true;

    const Instant basis = host_.clock.now();
    auto begun = store_->begin(write ? RecordStore::Access::write : RecordStore::Access::read);
    if (!begun) {
      fail_all(begun.failure());
      return true;
    }
    if (*begun == RecordStore::Begun::busy) return false;

    Open open{store_.get()};
    hints.clear();
    news.clear();
    // A store in memory has not made us wait.
    const Instant now = batching_ == Batching::none ? basis : host_.clock.now();
    LockModel model(*store_, self_, now, wall(now), hints);
    Step step{model, *store_, *this, basis, now};
    if (!apply(ops, step)) {
      open.rollback();
      continue;
    }
    if (!hints.empty()) overhear(step, ops, hints, news);
    if (!write) return true;  // rolled back: there is nothing to keep

    open.store = nullptr;
    Failure why{errc::unavailable, {}};
    switch (store_->commit(why)) {
      case RecordStore::Committed::yes:
        break;
      case RecordStore::Committed::no:
        fail_all(why);
        hints.clear();
        news.clear();
        break;
      case RecordStore::Committed::unknown:
        fail_all({errc::unknown, "the store may or may not have done it: " + why.words});
        news.clear();  // the hints go out: who hears one looks before he believes it
        unsure = true;
        break;
    }
    return true;
  }
}

/// False if one of them failed; it knows why.
bool RecordDriver::apply(std::span<Op* const> ops, Step& step) {
  for (Op* op : ops) {
    if (op->failure) continue;
    try {
      op->apply(step);
    } catch (const Error& error) {
      op->failure = Failure{static_cast<errc>(error.code().value()), error.words()};
      return false;
    }
  }
  return true;
}

/// What this transaction means for other requests of ours is learnt inside it, not by another one.
void RecordDriver::overhear(Step& step, std::span<Op* const> ops, const std::vector<Hint>& hints,
                            std::vector<News>& news) {
  bool granted = false;
  for (const Hint& hint : hints) {
    if (hint.client != self_.client) continue;
    try {
      News item{.hint = hint};
      switch (hint.kind) {
        case Hint::Kind::granted: {
          granted = true;
          const auto found = waiting_.find(hint.subject);
          if (found == waiting_.end()) continue;  // of this very batch, if at all
          item.grant = step.model.look(*found->second.request).grant;
          if (!item.grant) continue;
          item.grant->basis = step.basis;
          break;
        }
        case Hint::Kind::lost:
          if (const auto found = held_.find(hint.subject); found != held_.end())
            item.reason = step.model.lost(*found->second.request).value_or(LossReason::none);
          break;
        case Hint::Kind::wanted:
          break;
        case Hint::Kind::written: {
          const auto found = watching_.find(hint.subject);
          if (found == watching_.end()) continue;
          item.value = step.model.read(found->second.cell);
          if (item.value->version <= found->second.since) continue;
          break;
        }
      }
      news.push_back(std::move(item));
    } catch (const Error&) {
      // It was only a hint; the timer will come to it.
    }
  }
  if (!granted) return;
  for (Op* op : ops) {
    try {
      if (!op->failure) op->revisit(step);
    } catch (const Error&) {
      // As above.
    }
  }
}

/// From here on these requests hold, though their handlers have yet to hear of it.
void RecordDriver::accept(std::vector<News>& news) {
  for (News& item : news) {
    if (!item.grant) continue;
    const auto found = waiting_.find(item.hint.subject);
    if (found == waiting_.end()) continue;
    hold(found->second.request, *item.grant);
    item.handler = stop_waiting(item.hint.subject);
  }
}

/// A handler may cause more news, which then come after these: no recursion as deep as a queue is
/// long.
void RecordDriver::tell(std::vector<News>& news) {
  for (News& item : news) news_.push_back(std::move(item));
  if (telling_) return;
  telling_ = true;
  while (!news_.empty()) {
    News next = std::move(news_.front());
    news_.pop_front();
    deliver(next);
  }
  telling_ = false;
}

void RecordDriver::deliver(News& news) {
  switch (news.hint.kind) {
    case Hint::Kind::granted:
      if (news.handler) news.handler(*std::move(news.grant));
      break;
    case Hint::Kind::lost:
      if (news.reason != LossReason::none)
        report_lost(news.hint.subject, news.reason);
      else
        hinted(news.hint.kind, news.hint.subject);
      break;
    case Hint::Kind::wanted:
      hinted(news.hint.kind, news.hint.subject);
      break;
    case Hint::Kind::written:
      finish_watch(news.hint.subject, *std::move(news.value));
      break;
  }
}

}  // namespace holdfast::driver
