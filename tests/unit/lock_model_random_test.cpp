// Random steps of several clients on a few resources, in virtual time, and after each of them the
// rules that must hold whatever happened. A failure prints its seed; HOLDFAST_MODEL_SEED=n runs it
// alone, and HOLDFAST_MODEL_RUNS=n runs more of them.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "driver/record/lock_model.hpp"
#include "support/timing.hpp"
#include "unit/fake_store.hpp"

namespace holdfast::driver {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t client_count = 4;
const std::vector<std::string> all_names = {"a", "b", "c"};

/// What the test believes of a request: written from the rules, not from the model.
struct Known {
  Request request;
  std::size_t client = 0;
  bool released = false;  ///< release() has said so
  bool over = false;      ///< nothing more will be done with it
  bool heard = false;     ///< it has been told of a grant
  bool torn = false;      ///< revoked in some of its names: may be held in the others yet
};

class World {
 public:
  explicit World(std::uint64_t seed) : random_(seed) {
    for (std::size_t i = 0; i < client_count; ++i)
      selves_[i] = {id_of(static_cast<std::uint8_t>(200 + i)), "host:" + std::to_string(i)};
  }

  void run(std::size_t steps) {
    for (std::size_t i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      if (chance(8))
        all_heartbeats();
      else
        checked([this] { step(); });
    }
    if (!testing::Test::HasFailure()) end();
  }

 private:
  using Records = decltype(FakeStore::records);

  std::size_t below(std::size_t count) { return random_() % count; }
  bool chance(unsigned percent) { return below(100) < percent; }

  LockModel model(std::size_t client) {
    acting_client_ = selves_[client].client;  // which is there, whatever the store believes
    return {store_, selves_[client], now_, wall_, hints_};
  }

  // --- Steps ---

  template <class Step>
  void checked(Step step) {
    before_ = store_.records;
    const Instant then = now_;
    hints_.clear();
    touched_.clear();
    step();
    check(then);
  }

  /// After this nobody waits who need not.
  void all_heartbeats() {
    for (auto& known : known_)
      if (!known.over && waits(known.request.id, now_) && !testing::Test::HasFailure())
        checked([&] { acquire(known, true); });
    for (const auto& name : all_names) check_nobody_fits(name);
  }

  void step() {
    switch (below(11)) {
      case 0:
      case 1:
      case 2:
        return fresh();
      case 3:
      case 4:
        return pass(std::chrono::milliseconds(below(100) < 90 ? below(1500) : below(70'000)));
      case 5:
        return revoke_or_disturb();
      default:
        break;
    }
    if (known_.empty()) return;
    Known& known = known_[below(known_.size())];
    switch (below(6)) {
      case 0:
        return acquire(known, true);
      case 1:
        return renew(known);
      case 2:
        return withdraw(known);
      case 3:
        return downgrade(known);
      default:
        return release(known);
    }
  }

  void pass(Duration time) {
    now_ += time;
    // The time of day may be set back, also by a lot.
    wall_ += std::chrono::duration_cast<std::chrono::system_clock::duration>(time);
    if (chance(5)) wall_ -= std::chrono::hours(below(48));
  }

  void fresh() {
    if (known_.size() > 30) std::erase_if(known_, [](const Known& known) { return known.over; });
    Known known;
    Request& request = known.request;
    request.id.bytes[0] = static_cast<std::uint8_t>(++requests_);
    request.id.bytes[1] = static_cast<std::uint8_t>(requests_ >> 8U);
    request.id.bytes[2] = 1;
    std::vector<std::string> names;
    for (const auto& name : all_names)
      if (chance(40)) names.push_back(name);
    if (names.empty()) names.push_back(all_names[below(all_names.size())]);
    request.names = std::move(names);
    const std::size_t kind = below(10);
    if (kind < 4) request.mode.kind = ModeKind::shared;
    if (kind < 2) request.mode = {ModeKind::permits, static_cast<std::uint32_t>(1 + below(3)), 3};
    if (chance(3)) request.mode = {ModeKind::permits, 1, 4};
    request.owner = std::to_string(requests_);
    request.ttl = std::chrono::milliseconds(1000 + below(20'000));
    request.token_block = chance(20) ? 64 : 1;
    known.client = below(client_count);
    known_.push_back(known);
    acquire(known_.back(), chance(80));
  }

  void acquire(Known& known, bool may_wait) {
    if (known.over) return;
    const Request& request = known.request;
    const bool held = whole(request, before());
    touched_ = request.names;
    acting_ = request.id;
    const bool unheard = !known.heard && chance(50);
    const auto standing = model(known.client).acquire(request, may_wait, unheard);
    if (!standing.ok()) {
      EXPECT_FALSE(held) << "a lease that was there is refused";
      if (standing.failure().code == errc::timeout) {
        EXPECT_FALSE(may_wait);
      }
      if (standing.failure().code == errc::lost) {
        EXPECT_FALSE(unheard);
      }
      known.over = true;
      return;
    }
    EXPECT_FALSE(known.released) << "granted or queued after its release";
    EXPECT_NE(standing.value().grant.has_value(), standing.value().queued);
    if (standing.value().grant) {
      known.heard = true;
      EXPECT_TRUE(whole(request, store_.records));
      EXPECT_EQ(standing.value().grant->tokens.size(), request.names.size());
      EXPECT_GT(standing.value().grant->ttl, Duration::zero());
    } else {
      EXPECT_TRUE(may_wait);
      EXPECT_FALSE(held);
      EXPECT_TRUE(waits(request.id, now_));
      EXPECT_EQ(model(known.client).look(request).ahead, standing.value().ahead);
    }
  }

  void renew(Known& known) {
    const bool held = whole(known.request, before());
    const auto renewal = model(known.client).renew(known.request);
    EXPECT_EQ(renewal.outcome == Renewal::Outcome::renewed, held);
    if (held) {
      EXPECT_EQ(model(known.client).look(known.request).grant->ttl, known.request.ttl);
    }
    if (!held) {
      EXPECT_FALSE(held_anywhere(known.request.id)) << "what is left of a lost lease";
      known.torn = false;
    }
  }

  void release(Known& known) {
    const bool held = whole(known.request, before());
    const auto outcome = model(known.client).release(known.request);
    if (held) {
      EXPECT_EQ(outcome, Released::released);
    }
    if (!held && !known.released) {
      EXPECT_EQ(outcome, Released::already_lost);
    }
    known.released = known.released || held;
    known.over = true;
    EXPECT_FALSE(held_anywhere(known.request.id));
    EXPECT_FALSE(waits_anywhere(known.request.id));
    if (held) touched_ = known.request.names;
  }

  void withdraw(Known& known) {
    const bool held = whole(known.request, before());
    if (waits_anywhere(known.request.id)) touched_ = known.request.names;
    const auto grant = model(known.client).withdraw(known.request);
    EXPECT_EQ(grant.has_value(), held);
    EXPECT_FALSE(waits_anywhere(known.request.id));
    if (!held) known.over = true;
  }

  void downgrade(Known& known) {
    const bool held = whole(known.request, before());
    if (!held || known.over || known.request.mode.kind != ModeKind::exclusive) return;
    const auto tokens = model(known.client).look(known.request).grant->tokens;
    known.request.mode = {.kind = ModeKind::shared};
    acting_ = known.request.id;
    touched_ = known.request.names;
    const auto standing = model(known.client).acquire(known.request, false);
    ASSERT_TRUE(standing.ok() && standing.value().grant);
    EXPECT_EQ(standing.value().grant->tokens, tokens);
  }

  void revoke_or_disturb() {
    switch (below(4)) {
      case 0: {
        const Id client = selves_[below(client_count)].client;
        if (!store_.dead.insert(client).second) store_.dead.erase(client);
        return;
      }
      case 1:
        store_.floor += below(1000);
        return;
      default:
        break;
    }
    const std::string& name = all_names[below(all_names.size())];
    revoked_ = name;
    touched_ = {name};
    std::size_t count = 0;
    for (const Holder& holder : store_.records[name].holders) {
      if (holder.expires <= now_) continue;
      ++count;
      for (auto& known : known_)
        if (known.request.id == holder.lease) known.torn = known.request.names.size() > 1;
    }
    EXPECT_EQ(model(0).revoke(name), count);
  }

  // --- What is so, by the rules alone ---

  const Records& before() const { return before_; }

  bool whole(const Request& request, const Records& records) const {
    for (const auto& name : request.names) {
      const auto record = records.find(name);
      if (record == records.end() || !holder_of(request.id, record->second)) return false;
    }
    return true;
  }
  const Holder* holder_of(const Id& lease, const Record& record) const {
    for (const Holder& holder : record.holders)
      if (holder.lease == lease && holder.expires > now_) return &holder;
    return nullptr;
  }
  bool held_anywhere(const Id& lease) const {
    for (const auto& [name, record] : store_.records)
      for (const Holder& holder : record.holders)
        if (holder.lease == lease) return true;
    return false;
  }
  bool waits_anywhere(const Id& lease) const { return waits(lease, Instant::min()); }
  bool waits(const Id& lease, Instant alive_at) const {
    for (const auto& [name, record] : store_.records)
      for (const Waiter& waiter : record.waiters)
        if (waiter.lease == lease && waiter.alive_until > alive_at) return true;
    return false;
  }
  bool queued_whole(const Waiter& waiter, const std::string& name) const {
    const auto names = waiter.names.empty() ? std::vector<std::string>{name} : waiter.names;
    return std::all_of(names.begin(), names.end(), [&](const std::string& each) {
      const auto record = before_.find(each);
      return record != before_.end() &&
             std::any_of(record->second.waiters.begin(), record->second.waiters.end(),
                         [&](const Waiter& entry) { return entry.lease == waiter.lease; });
    });
  }
  bool live(const Waiter& waiter) const {
    return waiter.alive_until > now_ &&
           (waiter.client == acting_client_ || !store_.dead.contains(waiter.client));
  }
  bool compatible(const std::vector<const Holder*>& holders, const Mode& mode) const {
    std::uint32_t taken = mode.count;
    for (const Holder* holder : holders) {
      if (mode.kind == ModeKind::exclusive || holder->mode.kind != mode.kind) return false;
      if (mode.kind == ModeKind::permits && holder->mode.limit != mode.limit) return false;
      taken += holder->mode.count;
    }
    return mode.kind != ModeKind::permits || taken <= mode.limit;
  }
  std::vector<const Holder*> in_force(const Record& record) const {
    std::vector<const Holder*> holders;
    for (const Holder& holder : record.holders)
      if (holder.expires > now_) holders.push_back(&holder);
    return holders;
  }

  // --- Checks after each step ---

  void check(Instant then) {
    for (const auto& name : all_names) {
      const Record& record = store_.records[name];
      check_holders(record);
      check_queue(record);
      check_grants(name, record, before_[name]);
      if (then == now_) check_nobody_was_robbed(name, record, before_[name]);
    }
    check_sets();
    for (const auto& name : touched_) check_nobody_fits(name);
    acting_ = acting_client_ = {};
    revoked_.clear();
  }

  void check_holders(const Record& record) {
    auto holders = in_force(record);
    while (!holders.empty()) {
      const Holder* last = holders.back();
      holders.pop_back();
      EXPECT_TRUE(compatible(holders, last->mode)) << "two holders that exclude each other";
    }
  }

  void check_queue(const Record& record) {
    std::uint64_t ticket = 0;
    for (const Waiter& waiter : record.waiters) {
      EXPECT_GT(waiter.ticket, ticket);
      ticket = waiter.ticket;
      EXPECT_FALSE(holder_of(waiter.lease, record)) << "waits for what it holds";
    }
  }

  void check_grants(const std::string& name, const Record& record, const Record& before) {
    EXPECT_GE(record.token, before.token);
    if (name == revoked_ && before.token > 0) {
      EXPECT_GT(record.token, before.token);
    }
    for (const Holder& holder : record.holders) {
      EXPECT_LT(holder.token + holder.token_block - 1, record.token + 1);
      const bool fresh = std::none_of(before.holders.begin(), before.holders.end(),
                                      [&](const Holder& old) { return old.token == holder.token; });
      if (!fresh) continue;
      EXPECT_GT(holder.token, before.token) << "a token that does not rise";
      EXPECT_GT(holder.token, store_.floor);
      const auto wall =
          std::chrono::duration_cast<std::chrono::microseconds>(wall_.time_since_epoch());
      EXPECT_GE(holder.token, static_cast<std::uint64_t>(wall.count()));
      if (record.last == before.last && record.ended == before.ended) {
        EXPECT_EQ(holder.predecessor, before.ended);
      }
      const auto queued =
          std::find_if(before.waiters.begin(), before.waiters.end(),
                       [&](const Waiter& waiter) { return waiter.lease == holder.lease; });
      std::uint64_t ticket = static_cast<std::uint64_t>(-1);
      // (One that was dropped from some of its queues while asleep comes as a new one.)
      if (queued != before.waiters.end() && queued_whole(*queued, name)) {
        ticket = queued->ticket;
        const Hint told{holder.client, Hint::Kind::granted, holder.lease};
        EXPECT_NE(std::find(hints_.begin(), hints_.end(), told), hints_.end()) << "not woken";
        touched_.insert(touched_.end(), queued->names.begin(), queued->names.end());
        if (holder.lease != acting_) {
          EXPECT_TRUE(live(*queued)) << "a dead waiter was granted";
          EXPECT_LE(holder.expires, queued->alive_until);
        }
      }
      EXPECT_LE(holder.expires, now_ + holder.ttl);
      for (const Waiter& waiter : record.waiters)
        EXPECT_FALSE(waiter.ticket < ticket && live(waiter))
            << name << ": " << holder.owner << " overtook " << waiter.owner;
    }
  }
  void check_nobody_was_robbed(const std::string& name, const Record& record,
                               const Record& before) {
    for (const Holder& old : before.holders) {
      const auto own = std::any_of(hints_.begin(), hints_.end(), [&](const Hint& hint) {
        return hint.kind == Hint::Kind::lost && hint.subject == old.lease;
      });
      const Holder* now = holder_of(old.lease, record);
      const bool there = now && now->token == old.token;
      if (old.expires <= now_) {
        EXPECT_FALSE(there) << name << ": an expired lease came back to life";
      } else if (!there && name == revoked_) {
        EXPECT_TRUE(own) << "a victim that was not told";
      } else if (!there) {
        const auto known = std::find_if(known_.begin(), known_.end(), [&](const Known& each) {
          return each.request.id == old.lease;
        });
        const bool ended = known == known_.end() || known->over || !whole(known->request, before_);
        EXPECT_TRUE(ended) << name << ": the lease of " << old.owner << " was taken away";
      }
    }
  }

  void check_sets() {
    for (auto& known : known_) {
      if (known.request.names.size() < 2 || known.torn) continue;
      std::size_t held = 0;
      std::size_t waiting = 0;
      for (const auto& name : known.request.names) {
        const Record& record = store_.records[name];
        held += holder_of(known.request.id, record) ? 1U : 0U;
        for (const Waiter& waiter : record.waiters)
          waiting += waiter.lease == known.request.id && waiter.alive_until > now_ ? 1U : 0U;
      }
      const std::size_t all = known.request.names.size();
      EXPECT_TRUE(held == 0 || held == all) << known.request.owner << " holds a part of its set";
      EXPECT_TRUE(waiting == 0 || waiting == all) << known.request.owner << " waits for a part";
      EXPECT_TRUE(held == 0 || waiting == 0);
    }
  }

  /// The first live waiter of a resource that was just dealt with must have a reason to wait.
  void check_nobody_fits(const std::string& name) {
    for (const Waiter& waiter : store_.records[name].waiters) {
      if (!live(waiter)) continue;
      bool stopped = false;
      const std::vector<std::string> names =
          waiter.names.empty() ? std::vector<std::string>{name} : waiter.names;
      for (const auto& each : names) {
        const Record& record = store_.records[each];
        if (!compatible(in_force(record), waiter.mode)) stopped = true;
        for (const Waiter& other : record.waiters)
          if (other.ticket < waiter.ticket && live(other)) stopped = true;
      }
      EXPECT_TRUE(stopped) << name << " is free for " << waiter.owner << ", which waits";
      return;
    }
  }

  /// When all have gone, nothing is left, and nothing had to expire for that.
  void end() {
    store_.dead.clear();
    for (auto& known : known_) (void)model(known.client).release(known.request);
    pass(2min);
    for (const auto& name : all_names) {
      Request last;
      last.id.bytes[3] = 1;
      last.names = {name};
      last.ttl = 1s;
      const auto standing = model(0).acquire(last, false);
      ASSERT_TRUE(standing.ok()) << standing.failure().words;
      EXPECT_EQ(model(0).release(last), Released::released);
      EXPECT_TRUE(store_.records[name].idle());
    }
  }

  std::mt19937_64 random_;
  FakeStore store_;
  Instant now_{1h};
  std::chrono::system_clock::time_point wall_{std::chrono::hours(24 * 365)};
  LockModel::Self selves_[client_count];
  std::vector<Hint> hints_;
  std::vector<Known> known_;
  unsigned requests_ = 0;

  // Of the step under way.
  Records before_;
  std::vector<std::string> touched_;  ///< names that it must leave at rest
  std::string revoked_;
  Id acting_;
  Id acting_client_;
};

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(LockModelRandom, RulesHoldAfterEveryStep) {
  const std::uint64_t only = number_from("HOLDFAST_MODEL_SEED", 0);
  const std::uint64_t runs =
      number_from("HOLDFAST_MODEL_RUNS", 1000 / (test::slowness * test::slowness));
  for (std::uint64_t seed = only ? only : 1; seed <= (only ? only : runs); ++seed) {
    World(seed).run(300);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace holdfast::driver
