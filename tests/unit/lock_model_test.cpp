#include "driver/record/lock_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/fake_store.hpp"

namespace holdfast::driver {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Mode exclusive{};
constexpr Mode shared{.kind = ModeKind::shared};
constexpr Mode permits(std::uint32_t count, std::uint32_t limit) {
  return {ModeKind::permits, count, limit};
}

/// Clients that take steps in virtual time.
class LockModelTest : public testing::Test {
 protected:
  FakeStore store;
  Instant now{1h};
  std::chrono::system_clock::time_point wall{1s};  // low, so that tokens count by one
  std::vector<Hint> hints;
  LockModel::Self selves[5] = {{id_of(100), "host:100"},
                               {id_of(101), "host:101"},
                               {id_of(102), "host:102"},
                               {id_of(103), "host:103"},
                               {id_of(104), "host:104"}};
  std::uint8_t requests = 0;

  LockModelTest() { store.floor = 1'000'000'000; }

  LockModel client(std::size_t number) {
    hints.clear();
    return {store, selves[number], now, wall, hints};
  }
  void pass(Duration time) {
    now += time;
    wall += std::chrono::duration_cast<std::chrono::system_clock::duration>(time);
  }

  Request request(std::vector<std::string> names, Mode mode = exclusive, Duration ttl = 30s) {
    Request request;
    request.id = id_of(++requests);
    request.names = std::move(names);
    request.mode = mode;
    request.owner = "owner-" + std::to_string(requests);
    request.ttl = ttl;
    return request;
  }

  /// Acquires that must be granted at once, or must queue.
  Grant granted(std::size_t number, const Request& request) {
    auto standing = client(number).acquire(request, true);
    EXPECT_TRUE(standing.ok() && standing->grant) << "request " << request.owner;
    return standing.ok() && standing->grant ? *standing->grant : Grant{};
  }
  LockModel::Standing queued(std::size_t number, const Request& request) {
    auto standing = client(number).acquire(request, true);
    EXPECT_TRUE(standing.ok() && standing->queued && !standing->grant) << request.owner;
    return standing.ok() ? *standing : LockModel::Standing{};
  }
  errc refused(std::size_t number, const Request& request, bool may_wait = true) {
    auto standing = client(number).acquire(request, may_wait);
    EXPECT_FALSE(standing.ok());
    words = standing.ok() ? "" : standing.failure().words;
    return standing.ok() ? errc{} : standing.failure().code;
  }
  void released(std::size_t number, const Request& request) {
    EXPECT_EQ(client(number).release(request), Released::released) << request.owner;
  }
  void withdrawn(std::size_t number, const Request& request) {
    EXPECT_EQ(client(number).withdraw(request), std::nullopt) << request.owner;
  }
  bool holds(const Request& request) { return client(4).look(request).grant.has_value(); }
  bool waits(const Request& request) { return client(4).look(request).queued; }

  std::string words;
};

TEST_F(LockModelTest, GrantsWhatIsFreeAndQueuesTheRest) {
  const auto a = request({"x"});
  const auto grant = granted(0, a);
  EXPECT_THAT(grant.tokens, ElementsAre(1'000'000'001));
  EXPECT_EQ(grant.ttl, 30s);
  EXPECT_EQ(grant.predecessor, Predecessor::none);
  EXPECT_FALSE(grant.contended);

  pass(5s);
  const auto b = request({"x"});
  const auto standing = queued(1, b);
  EXPECT_EQ(standing.ahead, 0U);
  EXPECT_EQ(standing.look_again, now + 25s);
  EXPECT_THAT(hints, ElementsAre(Hint{id_of(100), Hint::Kind::wanted, a.id}));

  const auto c = request({"x"});
  EXPECT_EQ(queued(2, c).ahead, 1U);
  EXPECT_THAT(hints, IsEmpty()) << "the holder knows already";
}

TEST_F(LockModelTest, SameIdGetsTheFirstAnswer) {
  const auto a = request({"x"});
  const auto first = granted(0, a);
  pass(10s);
  const auto again = granted(0, a);
  EXPECT_EQ(again.tokens, first.tokens);
  EXPECT_EQ(again.ttl, 20s) << "what remains";

  const auto b = request({"x"});
  queued(1, b);
  queued(1, b);
  EXPECT_THAT(store.records["x"].waiters, SizeIs(1));
}

TEST_F(LockModelTest, BusyNamesTheHolder) {
  granted(0, request({"order:1"}));
  pass(12s);
  EXPECT_EQ(refused(1, request({"order:1"}), false), errc::timeout);
  EXPECT_EQ(words,
            "\"order:1\" is held by owner-1 (host:100, token 1000000001, for 12s, expires in 18s)");
  EXPECT_THAT(store.records["order:1"].waiters, IsEmpty());

  const auto readers = {request({"y"}, shared), request({"y"}, shared), request({"y"}, shared)};
  for (const auto& reader : readers) granted(0, reader);
  EXPECT_EQ(refused(1, request({"y"}), false), errc::timeout);
  EXPECT_THAT(words, HasSubstr(") and 2 others"));
  queued(1, request({"y"}));
  EXPECT_EQ(refused(2, request({"y"}, shared), false), errc::timeout);
  EXPECT_EQ(words, "\"y\" goes to 1 other that waits for it first");
}

TEST_F(LockModelTest, ReleaseHandsOverInOrderOfArrival) {
  const auto a = request({"x"});
  const auto b = request({"x"});
  const auto c = request({"x"});
  granted(0, a);
  queued(1, b);
  queued(2, c);
  pass(1s);
  EXPECT_EQ(client(0).release(a), Released::released);
  EXPECT_THAT(hints, ElementsAre(Hint{id_of(101), Hint::Kind::granted, b.id}));

  const auto grant = client(1).look(b).grant;
  ASSERT_TRUE(grant);
  EXPECT_THAT(grant->tokens, ElementsAre(1'000'000'002));
  EXPECT_EQ(grant->ttl, 5s) << "no longer than it has proved to live";
  EXPECT_EQ(grant->predecessor, Predecessor::released);
  EXPECT_TRUE(grant->contended);
  EXPECT_TRUE(waits(c));
}

TEST_F(LockModelTest, ReleaseIsIdempotentAndFreesNothingElse) {
  const auto a = request({"x"});
  granted(0, a);
  EXPECT_EQ(client(0).release(a), Released::released);
  EXPECT_EQ(client(0).release(a), Released::released) << "the first answer was lost";
  EXPECT_EQ(client(0).release(request({"x"})), Released::already_lost);

  const auto b = request({"x"});
  granted(1, b);
  EXPECT_EQ(client(0).release(a), Released::released);
  EXPECT_TRUE(holds(b));
  EXPECT_EQ(refused(0, a), errc::lost) << "an acquire that arrives after its release";
}

TEST_F(LockModelTest, ReleaseOfAWaiterLeavesTheQueue) {
  const auto a = request({"x"});
  const auto b = request({"x"});
  granted(0, a);
  queued(1, b);
  EXPECT_EQ(client(1).release(b), Released::already_lost);
  EXPECT_FALSE(waits(b));
  EXPECT_TRUE(holds(a));
}

TEST_F(LockModelTest, ExpiryEndsALeaseEvenIfNobodyTookIt) {
  const auto a = request({"x"});
  granted(0, a);
  pass(30s);
  EXPECT_EQ(client(0).lost(a), LossReason::expired);
  EXPECT_TRUE(client(0).inspect("x").holders.empty());
  const auto renewal = client(0).renew(a);
  EXPECT_EQ(renewal.outcome, Renewal::Outcome::gone);
  EXPECT_EQ(renewal.reason, LossReason::expired);
  EXPECT_EQ(client(0).release(a), Released::already_lost);
  EXPECT_EQ(refused(0, a), errc::lost) << "nothing resurrects it";

  const auto b = request({"x"});
  granted(0, b);
  pass(30s);
  EXPECT_EQ(client(0).release(b), Released::already_lost) << "not even noticed by anybody";

  const auto c = request({"x"});
  EXPECT_EQ(granted(1, c).predecessor, Predecessor::expired);
}

TEST_F(LockModelTest, ExpiryIsNoticedByWhoComesNext) {
  const auto a = request({"x"});
  const auto b = request({"x"});
  granted(0, a);
  queued(1, b);
  pass(30s);
  EXPECT_EQ(granted(2, request({"x"})).predecessor, Predecessor::expired) << "b is asleep";
  EXPECT_THAT(hints, ElementsAre(Hint{id_of(100), Hint::Kind::lost, a.id}));
}

TEST_F(LockModelTest, RenewExtendsAndSeesWaiters) {
  const auto a = request({"x"});
  granted(0, a);
  pass(20s);
  auto renewal = client(0).renew(a);
  EXPECT_EQ(renewal.outcome, Renewal::Outcome::renewed);
  EXPECT_EQ(renewal.ttl, 30s);
  EXPECT_FALSE(renewal.contended);
  pass(20s);
  const auto b = request({"x"});
  EXPECT_EQ(queued(1, b).look_again, now + 10s);
  EXPECT_TRUE(client(0).renew(a).contended);
  EXPECT_EQ(client(1).renew(b).outcome, Renewal::Outcome::gone) << "a waiter has nothing to renew";
  EXPECT_TRUE(waits(b));
}

TEST_F(LockModelTest, DeadWaitersArePassedOverAndKeepTheirPlace) {
  const auto a = request({"x"});
  const auto b = request({"x"});
  const auto c = request({"x"});
  granted(0, a);
  queued(1, b);
  pass(5s);
  queued(2, c);
  pass(2s);  // b's last heartbeat is 7 s ago
  EXPECT_EQ(client(0).release(a), Released::released);
  EXPECT_TRUE(holds(c));
  EXPECT_TRUE(waits(b));

  queued(1, b);  // it was only slow
  const auto d = request({"x"});
  queued(3, d);
  EXPECT_EQ(client(2).release(c), Released::released);
  EXPECT_TRUE(holds(b));
}

TEST_F(LockModelTest, WaitersOfClientsThatAreGoneArePassedOverAtOnce) {
  const auto a = request({"x"});
  const auto b = request({"x"});
  const auto c = request({"x"});
  granted(0, a);
  queued(1, b);
  queued(2, c);
  store.dead.insert(selves[1].client);
  released(0, a);
  EXPECT_TRUE(holds(c));
}

TEST_F(LockModelTest, DeadWaitersAreDroppedInTheEnd) {
  const auto a = request({"x"}, exclusive, 2min);
  const auto b = request({"x"});
  granted(0, a);
  queued(1, b);
  pass(67s);
  EXPECT_EQ(refused(2, request({"x"}), false), errc::timeout);
  EXPECT_THAT(store.records["x"].waiters, IsEmpty());
  queued(1, b);
  EXPECT_TRUE(waits(b)) << "its heartbeat queues again";
}

TEST_F(LockModelTest, WaiterThatSleptThroughItsTurnQueuesAgain) {
  const auto a = request({"x"});
  const auto b = request({"x"});
  granted(0, a);
  queued(1, b);
  released(0, a);
  pass(10s);
  EXPECT_EQ(refused(1, b), errc::lost) << "as far as a first acquire is concerned";
  const auto standing = client(1).acquire(b, true, true);
  ASSERT_TRUE(standing.ok());
  ASSERT_TRUE(standing->grant) << "but nobody had been told of that grant";
  EXPECT_THAT(standing->grant->tokens, ElementsAre(1'000'000'003));
}

TEST_F(LockModelTest, WithdrawLeavesNothing) {
  const auto a = request({"x"});
  const auto b = request({"x"});
  const auto c = request({"x"}, shared);
  granted(0, a);
  queued(1, b);
  queued(2, c);
  EXPECT_EQ(client(1).withdraw(b), std::nullopt);
  EXPECT_FALSE(waits(b));
  released(0, a);
  EXPECT_TRUE(holds(c));

  queued(1, b);
  released(2, c);
  const auto raced = client(1).withdraw(b);
  ASSERT_TRUE(raced) << "the grant came first";
  EXPECT_TRUE(holds(b));
}

TEST_F(LockModelTest, WithdrawUnblocksThoseBehind) {
  const auto reader = request({"x"}, shared);
  const auto writer = request({"x"});
  const auto other = request({"x"}, shared);
  granted(0, reader);
  queued(1, writer);
  queued(2, other);
  withdrawn(1, writer);
  EXPECT_TRUE(holds(other));
}

TEST_F(LockModelTest, ReadersShareAndDoNotStarveWriters) {
  const auto r1 = request({"x"}, shared);
  const auto r2 = request({"x"}, shared);
  const auto writer = request({"x"});
  const auto r3 = request({"x"}, shared);
  const auto r4 = request({"x"}, shared);
  granted(0, r1);
  granted(1, r2);
  queued(2, writer);
  queued(3, r3);
  queued(0, r4);
  released(0, r1);
  EXPECT_FALSE(holds(writer));
  released(1, r2);
  EXPECT_TRUE(holds(writer));
  released(2, writer);
  EXPECT_THAT(hints, ElementsAre(Hint{id_of(103), Hint::Kind::granted, r3.id},
                                 Hint{id_of(100), Hint::Kind::granted, r4.id}));
}

TEST_F(LockModelTest, DowngradeLetsReadersInAndKeepsTheToken) {
  auto writer = request({"x"});
  const auto reader = request({"x"}, shared);
  const auto next = request({"x"});
  const auto token = granted(0, writer).tokens;
  queued(1, reader);
  queued(2, next);
  writer.mode = shared;
  EXPECT_EQ(granted(0, writer).tokens, token);
  EXPECT_TRUE(holds(reader));
  EXPECT_TRUE(waits(next));
  writer.mode = exclusive;
  EXPECT_EQ(refused(0, writer), errc::bad_argument) << "there is no way back";
  EXPECT_TRUE(holds(writer));
}

TEST_F(LockModelTest, PermitsUpToTheLimit) {
  const auto two = request({"x"}, permits(2, 3));
  const auto one = request({"x"}, permits(1, 3));
  const auto big = request({"x"}, permits(2, 3));
  const auto small = request({"x"}, permits(1, 3));
  granted(0, two);
  granted(1, one);
  queued(2, big);
  queued(3, small);
  released(1, one);
  EXPECT_FALSE(holds(small)) << "nobody overtakes";
  released(0, two);
  EXPECT_TRUE(holds(big));
  EXPECT_TRUE(holds(small));
}

TEST_F(LockModelTest, UsersOfASemaphoreMustAgreeOnItsLimit) {
  const auto a = request({"x"}, permits(1, 3));
  granted(0, a);
  EXPECT_EQ(refused(1, request({"x"}, permits(1, 5))), errc::misconfigured);
  EXPECT_THAT(words, HasSubstr("limit of 3 permits, and this request says 5"));
  queued(1, request({"x"}, shared));
  released(0, a);
  granted(2, request({"y"}, permits(1, 5)));
  EXPECT_EQ(refused(1, request({"y"}, permits(3, 2))), errc::bad_argument);
  EXPECT_EQ(refused(1, request({"y"}, permits(0, 2))), errc::bad_argument);
}

TEST_F(LockModelTest, ModesDoNotMix) {
  granted(0, request({"x"}, permits(1, 3)));
  queued(1, request({"x"}, shared));
  granted(0, request({"y"}, shared));
  queued(1, request({"y"}, permits(1, 3)));
}

TEST_F(LockModelTest, SetsAreAllOrNothing) {
  const auto a = request({"a"});
  const auto set = request({"a", "b"});
  const auto b = request({"b"});
  granted(0, a);
  queued(1, set);
  queued(2, b);
  EXPECT_THAT(store.records["b"].holders, IsEmpty()) << "b waits behind the set";
  released(0, a);
  EXPECT_TRUE(holds(set));
  EXPECT_TRUE(waits(b));
  EXPECT_EQ(client(1).renew(set).outcome, Renewal::Outcome::renewed);
  EXPECT_EQ(client(1).release(set), Released::released);
  EXPECT_TRUE(holds(b));
  EXPECT_EQ(client(1).release(set), Released::released);
}

TEST_F(LockModelTest, SetWaitsForItsLastName) {
  const auto a = request({"a"});
  const auto c = request({"c"});
  const auto set = request({"a", "b", "c"});
  granted(0, a);
  granted(0, c);
  queued(1, set);
  released(0, a);
  EXPECT_FALSE(holds(set));
  EXPECT_THAT(store.records["a"].holders, IsEmpty());
  released(0, c);
  EXPECT_TRUE(holds(set));
  const auto grant = client(1).look(set).grant;
  EXPECT_THAT(grant->tokens, SizeIs(3));
  EXPECT_EQ(grant->predecessor, Predecessor::released);
}

TEST_F(LockModelTest, HandOverOfASetLetsThoseBehindItIn) {
  const auto a = request({"a"});
  const auto set = request({"a", "b"}, shared);
  const auto reader = request({"b"}, shared);
  granted(0, a);
  queued(1, set);
  queued(2, reader);
  released(0, a);
  EXPECT_TRUE(holds(set));
  EXPECT_TRUE(holds(reader)) << "b was never released, but became free to read";
}

TEST_F(LockModelTest, ExpiryInAnotherNameOfASetIsSeen) {
  const auto a = request({"a"});
  const auto b = request({"b"}, exclusive, 3s);
  const auto set = request({"a", "b"});
  granted(0, a);
  granted(0, b);
  queued(1, set);
  pass(4s);
  released(0, a);
  EXPECT_TRUE(holds(set));
}

TEST_F(LockModelTest, RevokeTellsTheHolderRaisesTheTokenAndHandsOver) {
  const auto a = request({"x"}, shared);
  const auto b = request({"x"}, shared);
  const auto c = request({"x"});
  granted(0, a);
  granted(1, b);
  queued(2, c);
  EXPECT_EQ(client(4).revoke("x"), 2U);
  EXPECT_THAT(hints, ElementsAre(Hint{id_of(100), Hint::Kind::lost, a.id},
                                 Hint{id_of(101), Hint::Kind::lost, b.id},
                                 Hint{id_of(102), Hint::Kind::granted, c.id}));
  EXPECT_EQ(client(0).look(c).grant->tokens.front(), 1'000'000'004U);
  EXPECT_EQ(client(0).look(c).grant->predecessor, Predecessor::revoked);
  EXPECT_EQ(client(1).lost(b), LossReason::revoked);
  EXPECT_EQ(client(1).release(b), Released::already_lost);
  EXPECT_EQ(client(4).revoke("never used"), 0U);
  EXPECT_EQ(store.records["never used"].token, 0U);
}

TEST_F(LockModelTest, LosingOneNameOfASetEndsTheRest) {
  for (const bool renewed : {true, false}) {
    const auto set = request({"a", "b"});
    granted(0, set);
    EXPECT_EQ(client(4).revoke("a"), 1U);
    EXPECT_EQ(client(0).lost(set), LossReason::revoked);
    const auto waiter = request({"b"});
    queued(1, waiter);
    if (renewed) {
      const auto renewal = client(0).renew(set);
      EXPECT_EQ(renewal.outcome, Renewal::Outcome::gone);
      EXPECT_EQ(renewal.reason, LossReason::revoked);
    } else {
      EXPECT_EQ(client(0).release(set), Released::already_lost);
    }
    EXPECT_TRUE(holds(waiter));
    EXPECT_EQ(client(1).look(waiter).grant->predecessor, Predecessor::revoked);
    released(1, waiter);
  }
}

TEST_F(LockModelTest, TokensStartAtTheTimeOfDayAndComeInBlocks) {
  wall = std::chrono::system_clock::time_point(1'800'000'000s);
  auto a = request({"x"});
  a.token_block = 1000;
  const auto grant = granted(0, a);
  EXPECT_THAT(grant.tokens, ElementsAre(1'800'000'000'000'000));
  EXPECT_EQ(grant.token_block, 1000U);
  released(0, a);
  wall -= 24h;  // the clock was set back
  EXPECT_THAT(granted(0, request({"x"})).tokens, ElementsAre(1'800'000'000'001'000));
}

TEST_F(LockModelTest, UsedUpTokensStopGrantsButNothingElse) {
  const auto a = request({"x"});
  const auto b = request({"x"});
  granted(0, a);
  queued(1, b);
  store.records["x"].token = (std::uint64_t{1} << 63U) - 1;
  EXPECT_EQ(client(0).release(a), Released::released);
  EXPECT_FALSE(holds(b));
  withdrawn(1, b);
  EXPECT_EQ(refused(2, request({"x"})), errc::misconfigured);
  EXPECT_THAT(words, HasSubstr("used up"));
}

TEST_F(LockModelTest, InspectShowsHoldersAndWaiters) {
  auto a = request({"x"});
  a.note = "nightly";
  granted(0, a);
  queued(1, request({"x"}, shared));
  pass(7s);
  const auto info = client(4).inspect("x");
  EXPECT_EQ(info.name, "x");
  EXPECT_EQ(info.token, 1'000'000'001U);
  ASSERT_THAT(info.holders, SizeIs(1));
  EXPECT_EQ(info.holders[0].owner, "owner-1");
  EXPECT_EQ(info.holders[0].client, "host:100");
  EXPECT_EQ(info.holders[0].note, "nightly");
  EXPECT_EQ(info.holders[0].expires_in, 23s);
  EXPECT_EQ(info.holders[0].since, wall - 7s);
  ASSERT_THAT(info.waiters, SizeIs(1));
  EXPECT_EQ(info.waiters[0].mode, shared);
  EXPECT_FALSE(info.waiters[0].alive);
}

TEST_F(LockModelTest, CellsCompareAndSet) {
  EXPECT_EQ(client(0).read("c").version, 0U);
  const auto first = client(0).write("c", "one", 0);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first.value(), 1'000'000'001U) << "above what a dropped cell of this name had reached";
  const auto wrong = client(1).write("c", "other", 0);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.failure().code, errc::conflict);
  EXPECT_THAT(wrong.failure().words, HasSubstr("has version 1000000001, and not 0"));
  EXPECT_EQ(client(1).write("c", "two", first.value()).value(), 1'000'000'002U);
  EXPECT_EQ(client(0).read("c").value, "two");
}

TEST_F(LockModelTest, WatchersHearOfTheNextWriteOnce) {
  const Id early = id_of(201);
  const Id late = id_of(202);
  EXPECT_EQ(client(0).watch("c", 0, early), std::nullopt);
  EXPECT_EQ(client(0).watch("c", 0, early), std::nullopt) << "refreshed";
  pass(4s);
  EXPECT_EQ(client(1).watch("c", 0, late), std::nullopt);
  EXPECT_THAT(store.cells["c"].watchers, SizeIs(2));
  pass(4s);
  EXPECT_EQ(client(1).watch("c", 0, late), std::nullopt);
  EXPECT_THAT(store.cells["c"].watchers, SizeIs(1)) << "the other one has not been heard of";

  const auto version = client(2).write("c", "new", 0);
  EXPECT_THAT(hints, ElementsAre(Hint{id_of(101), Hint::Kind::written, late}));
  EXPECT_THAT(store.cells["c"].watchers, IsEmpty());
  const auto seen = client(1).watch("c", 0, late);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->version, version.value());
  EXPECT_EQ(client(1).watch("c", seen->version, late), std::nullopt);
  client(1).unwatch("c", late);
  EXPECT_THAT(store.cells["c"].watchers, IsEmpty());
}

}  // namespace
}  // namespace holdfast::driver
