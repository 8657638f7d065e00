#include "driver/record/record_driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "unit/fake_store.hpp"

namespace holdfast::driver {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Begun = RecordStore::Begun;
using Committed = RecordStore::Committed;
using Access = RecordStore::Access;
using Batching = RecordDriver::Batching;

/// The fake outlives the driver.
class Borrowed final : public RecordStore {
 public:
  explicit Borrowed(FakeStore& store) : store_(store) {}
  Result<Begun> begin(Access access) override { return store_.begin(access); }
  Committed commit(Failure& why) override { return store_.commit(why); }
  void rollback() noexcept override { store_.rollback(); }
  Record& record(std::string_view name) override { return store_.record(name); }
  void changed(std::string_view name) override { store_.changed(name); }
  CellRecord& cell(std::string_view name) override { return store_.cell(name); }
  void cell_changed(std::string_view name) override { store_.cell_changed(name); }
  std::vector<std::string> names(std::string_view prefix, std::size_t limit) override {
    return store_.names(prefix, limit);
  }
  std::uint64_t next_ticket() override { return store_.next_ticket(); }
  std::uint64_t token_floor() override { return store_.token_floor(); }
  void ring(const Hint& hint) noexcept override { store_.ring(hint); }
  bool alive(const Id& client) noexcept override { return store_.alive(client); }

 private:
  FakeStore& store_;
};

/// What a handler was called with.
template <class T>
struct Answer {
  std::optional<Result<T>> result;
  int calls = 0;

  Handler<T> handler() {
    return [this](Result<T> value) {
      result.emplace(std::move(value));
      ++calls;
    };
  }
  bool granted() const { return result && result->ok(); }
  errc code() const { return result && !result->ok() ? result->failure().code : errc{}; }
  std::string words() const { return result && !result->ok() ? result->failure().words : ""; }
};

class RecordDriverTest : public testing::TestWithParam<Batching> {
 protected:
  const Id self = id_of(1);
  const LockModel::Self other{id_of(2), "elsewhere:2"};
  FakeStore store;
  Loop loop;
  std::vector<Event> events;
  std::unique_ptr<RecordDriver> driver;

  void SetUp() override { make(5s); }
  void TearDown() override {
    on_loop([this] { driver.reset(); });
    loop.stop();
  }

  void make(std::chrono::milliseconds request_timeout) {
    on_loop([&] {
      driver.reset();
      Host host{.loop = loop,
                .clock = Clock::system(),
                .event = [this](const Event& event) { events.push_back(event); },
                .log = {},
                .request_timeout = request_timeout};
      driver = std::make_unique<RecordDriver>(std::move(host), Capabilities{},
                                              LockModel::Self{self, "here:1"}, GetParam());
      driver->attach(std::make_unique<Borrowed>(store));
    });
  }

  void on_loop(const std::function<void()>& work) {
    Loop::Call call(loop);
    call.start([&] {
      work();
      call.done();
    });
    call.wait();
  }
  /// Drives the loop until the condition, looked at on the loop, is met.
  bool comes(const std::function<bool()>& condition, Duration within = 10s) {
    for (const Instant end = boot_clock::now() + within; boot_clock::now() < end;) {
      bool met = false;
      Loop::Call call(loop);
      call.start([&] { met = condition(); });
      (void)call.wait_until(boot_clock::now() + (met ? 0ms : 1ms));
      call.done();
      call.wait();
      if (met) return true;
    }
    return false;
  }
  void let_run(Duration time) {
    (void)comes([] { return false; }, time);
  }
  template <class T>
  bool answered(const Answer<T>& answer) {
    return comes([&] { return answer.calls > 0; });
  }

  static RequestPtr request(std::vector<std::string> names, Instant deadline = Instant::max(),
                            Duration ttl = 30s, Mode mode = {}) {
    static std::uint16_t count = 0;
    auto request = std::make_shared<Request>();
    request->id.bytes[0] = static_cast<std::uint8_t>(++count);
    request->id.bytes[1] = static_cast<std::uint8_t>(count >> 8U);
    request->id.bytes[2] = 77;
    request->names = std::move(names);
    request->mode = mode;
    request->owner = "me";
    request->ttl = ttl;
    request->deadline = deadline;
    return request;
  }
  static RequestPtr one_try(const std::string& name) { return request({name}, Instant::min()); }

  /// Another client takes a step on the store.
  template <class Step>
  auto elsewhere(Step step) {
    std::optional<decltype(step(std::declval<LockModel&>()))> result;
    on_loop([&] {
      std::vector<Hint> hints;
      LockModel model(store, other, boot_clock::now(), std::chrono::system_clock::now(), hints);
      result.emplace(step(model));
      overheard = std::move(hints);
    });
    return *std::move(result);
  }
  RequestPtr other_holds(const std::string& name, Duration ttl = 30s) {
    auto theirs = request({name}, Instant::max(), ttl);
    EXPECT_TRUE(elsewhere([&](LockModel& model) { return model.acquire(*theirs, true); }).ok());
    return theirs;
  }
  void other_releases(const RequestPtr& theirs) {
    (void)elsewhere([&](LockModel& model) { return model.release(*theirs); });
  }

  RequestPtr hold(const std::string& name) { return hold(request({name})); }
  RequestPtr hold(RequestPtr lease) {
    Answer<Grant> grant;
    on_loop([&] { driver->acquire(lease, grant.handler()); });
    EXPECT_TRUE(answered(grant) && grant.granted()) << grant.words();
    return lease;
  }
  /// An acquire that is known to wait in the store.
  void queue(const RequestPtr& lease, Answer<Grant>& grant) {
    on_loop([&] { driver->acquire(lease, grant.handler()); });
    EXPECT_TRUE(comes([&] { return waits(lease); }));
    EXPECT_EQ(grant.calls, 0);
  }
  bool waits(const RequestPtr& lease) {
    for (const auto& [name, record] : store.records)
      for (const Waiter& waiter : record.waiters)
        if (waiter.lease == lease->id) return true;
    return false;
  }
  bool holds(const RequestPtr& lease) {
    for (const auto& [name, record] : store.records)
      for (const Holder& holder : record.holders)
        if (holder.lease == lease->id) return true;
    return false;
  }

  std::vector<Hint> overheard;
};

INSTANTIATE_TEST_SUITE_P(Batching, RecordDriverTest,
                         testing::Values(Batching::none, Batching::group), [](const auto& param) {
                           return param.param == Batching::none ? "None" : "Group";
                         });

/// What only one way of batching does.
class RecordDriverGroup : public RecordDriverTest {};
INSTANTIATE_TEST_SUITE_P(Batching, RecordDriverGroup, testing::Values(Batching::group),
                         [](const auto&) { return "Group"; });
class RecordDriverInline : public RecordDriverTest {};
INSTANTIATE_TEST_SUITE_P(Batching, RecordDriverInline, testing::Values(Batching::none),
                         [](const auto&) { return "None"; });

TEST_P(RecordDriverTest, AcquiresAndReleases) {
  const auto lease = request({"x"});
  Answer<Grant> grant;
  Instant began;
  store.at_begin = [&] {
    if (began == Instant{}) began = boot_clock::now();
  };
  const Instant before = boot_clock::now();
  on_loop([&] { driver->acquire(lease, grant.handler()); });
  ASSERT_TRUE(answered(grant) && grant.granted());
  EXPECT_THAT(grant.result->value().tokens, SizeIs(1));
  EXPECT_GE(grant.result->value().basis, before);
  EXPECT_LE(grant.result->value().basis, began) << "counts from before the transaction";
  EXPECT_EQ(grant.result->value().ttl, 30s);

  Answer<Released> released;
  on_loop([&] { driver->release(lease, released.handler()); });
  ASSERT_TRUE(answered(released));
  EXPECT_EQ(released.result->value(), Released::released);
  EXPECT_FALSE(holds(lease));
}

TEST_P(RecordDriverTest, BusyIsATimeoutAtOnce) {
  other_holds("x");
  Answer<Grant> grant;
  on_loop([&] { driver->acquire(one_try("x"), grant.handler()); });
  ASSERT_TRUE(answered(grant));
  EXPECT_EQ(grant.code(), errc::timeout);
  EXPECT_THAT(grant.words(), HasSubstr("is held by me (elsewhere:2"));
  EXPECT_THAT(store.records["x"].waiters, IsEmpty());
}

TEST_P(RecordDriverInline, AnswersInsideTheCall) {
  on_loop([&] {
    Answer<Grant> grant;
    Answer<ResourceInfo> info;
    driver->acquire(request({"x"}), grant.handler());
    EXPECT_TRUE(grant.granted());
    driver->inspect("x", info.handler());
    ASSERT_TRUE(info.granted());
    EXPECT_THAT(info.result->value().holders, SizeIs(1));
  });
  EXPECT_THAT(store.transactions, ElementsAre(Access::write, Access::read));
}

TEST_P(RecordDriverGroup, WhatIsPendingSharesATransaction) {
  std::vector<Answer<Grant>> grants(10);
  Answer<ResourceInfo> info;
  on_loop([&] {
    for (std::size_t i = 0; i < grants.size(); ++i)
      driver->acquire(request({"x" + std::to_string(i)}), grants[i].handler());
    driver->inspect("x3", info.handler());
    EXPECT_EQ(store.begun, 0U);
  });
  ASSERT_TRUE(answered(info));
  EXPECT_THAT(store.transactions, ElementsAre(Access::write));
  for (const auto& grant : grants) EXPECT_TRUE(grant.granted());
  EXPECT_THAT(info.result->value().holders, SizeIs(1));

  Answer<std::vector<ResourceInfo>> list;
  Answer<CellValue> cell;
  on_loop([&] {
    driver->list("x", 5, list.handler());
    driver->read("c", cell.handler());
  });
  ASSERT_TRUE(answered(cell));
  EXPECT_THAT(list.result->value(), SizeIs(5));
  EXPECT_THAT(store.transactions, ElementsAre(Access::write, Access::read)) << "nothing is written";
}

TEST_P(RecordDriverGroup, TransactionsAreBounded) {
  std::vector<Answer<Grant>> grants(600);
  std::vector<RequestPtr> leases;
  on_loop([&] {
    for (std::size_t i = 0; i < grants.size(); ++i) {
      leases.push_back(request({"x" + std::to_string(i)}));
      driver->acquire(leases.back(), grants[i].handler());
    }
  });
  ASSERT_TRUE(answered(grants.back()));
  EXPECT_THAT(store.transactions, SizeIs(3));

  while (leases.size() < 2500) leases.push_back(leases[leases.size() % 600]);
  leases[1500] = request({"never held"});
  Answer<std::vector<Renewal>> renewals;
  on_loop([&] { driver->renew(leases, renewals.handler()); });
  ASSERT_TRUE(answered(renewals));
  EXPECT_EQ(renewals.calls, 1);
  EXPECT_THAT(store.transactions, SizeIs(6));
  ASSERT_THAT(renewals.result->value(), SizeIs(2500));
  for (std::size_t i = 0; i < leases.size(); ++i)
    EXPECT_EQ(renewals.result->value()[i].outcome,
              i == 1500 ? Renewal::Outcome::gone : Renewal::Outcome::renewed);
}

TEST_P(RecordDriverTest, PartOfABatchOfRenewalsMayFail) {
  const auto lease = hold("x");
  store.commits.emplace_back(Committed::yes, Failure{});
  store.commits.emplace_back(Committed::no, Failure{errc::unavailable, "disk full"});
  Answer<std::vector<Renewal>> some;
  on_loop([&] { driver->renew(std::vector(1025, lease), some.handler()); });
  ASSERT_TRUE(answered(some));
  ASSERT_TRUE(some.granted());
  EXPECT_EQ(some.result->value()[1023].outcome, Renewal::Outcome::renewed);
  EXPECT_EQ(some.result->value()[1024].outcome, Renewal::Outcome::failed);

  store.commits.emplace_back(Committed::no, Failure{errc::unavailable, "disk full"});
  Answer<std::vector<Renewal>> all;
  on_loop([&] { driver->renew({lease, lease}, all.handler()); });
  ASSERT_TRUE(answered(all));
  EXPECT_EQ(all.code(), errc::unavailable);
}

TEST_P(RecordDriverTest, BusyStoreIsTriedAgainSoon) {
  for (int i = 0; i < 5; ++i) store.begins.emplace_back(Begun::busy);
  Answer<Grant> grant;
  Answer<ResourceInfo> behind;
  const Instant before = boot_clock::now();
  on_loop([&] {
    driver->acquire(request({"x"}), grant.handler());
    driver->inspect("x", behind.handler());
    EXPECT_EQ(grant.calls, 0);
  });
  ASSERT_TRUE(answered(behind));
  EXPECT_TRUE(grant.granted());
  EXPECT_THAT(behind.result->value().holders, SizeIs(1)) << "in order";
  EXPECT_GE(store.begun, 6U);
  EXPECT_LT(boot_clock::now() - before, 1s);
  EXPECT_GT(grant.result->value().basis, before + 500us) << "not from a try that failed";
}

TEST_P(RecordDriverTest, StoreThatStaysBusyIsUnavailable) {
  make(60ms);
  bool locked = true;
  store.at_begin = [&] {
    if (locked) store.begins.emplace_back(Begun::busy);
  };
  Answer<Grant> tried, waited, patient;
  Answer<Released> released;
  on_loop([&] {
    driver->acquire(one_try("x"), tried.handler());
    driver->acquire(request({"x"}, boot_clock::now() + 20ms), waited.handler());
    driver->acquire(request({"x"}), patient.handler());
    driver->release(request({"x"}), released.handler());
  });
  ASSERT_TRUE(answered(waited));
  EXPECT_EQ(waited.code(), errc::timeout);
  EXPECT_EQ(tried.calls, 0);
  ASSERT_TRUE(answered(released));
  EXPECT_EQ(tried.code(), errc::unavailable);
  EXPECT_THAT(tried.words(), HasSubstr("kept the store locked for 60ms"));
  EXPECT_EQ(patient.code(), errc::unavailable);
  EXPECT_EQ(released.code(), errc::unavailable);

  locked = false;
  hold("x");
}

TEST_P(RecordDriverTest, FailureOfTheStoreIsPassedOn) {
  store.begins.emplace_back(Failure{errc::denied, "the file is read-only"});
  Answer<Grant> grant;
  on_loop([&] { driver->acquire(request({"x"}), grant.handler()); });
  ASSERT_TRUE(answered(grant));
  EXPECT_EQ(grant.code(), errc::denied);
  EXPECT_EQ(grant.words(), "the file is read-only");
}

TEST_P(RecordDriverTest, CommitThatFailedChangesNothing) {
  other_holds("busy");
  store.commits.emplace_back(Committed::no, Failure{errc::unavailable, "disk full"});
  if (GetParam() == Batching::none)
    store.commits.emplace_back(Committed::no, Failure{errc::unavailable, "disk full"});
  Answer<Grant> grant, waiting;
  on_loop([&] {
    driver->acquire(request({"x"}), grant.handler());
    driver->acquire(request({"busy"}), waiting.handler());
  });
  ASSERT_TRUE(answered(waiting));
  EXPECT_EQ(grant.code(), errc::unavailable);
  EXPECT_EQ(waiting.code(), errc::unavailable);
  EXPECT_TRUE(store.records["x"].idle());
  EXPECT_THAT(store.records["busy"].waiters, IsEmpty());
  EXPECT_THAT(store.rung, IsEmpty());
}

TEST_P(RecordDriverTest, UnknownIsNotFailed) {
  const auto lease = request({"x"});
  store.commits.emplace_back(Committed::unknown, Failure{errc::unknown, "i/o error"});
  Answer<Grant> grant;
  on_loop([&] { driver->acquire(lease, grant.handler()); });
  ASSERT_TRUE(answered(grant));
  EXPECT_EQ(grant.code(), errc::unknown);
  EXPECT_THAT(grant.words(), HasSubstr("may or may not"));
  ASSERT_TRUE(holds(lease)) << "it was done";

  Answer<Released> released;
  on_loop([&] { driver->release(lease, released.handler()); });
  ASSERT_TRUE(answered(released));
  EXPECT_EQ(released.result->value(), Released::released);

  store.commits.emplace_back(Committed::unknown, Failure{errc::unknown, "i/o error"});
  Answer<std::uint64_t> written;
  on_loop([&] { driver->write("c", "v", 0, written.handler()); });
  ASSERT_TRUE(answered(written));
  EXPECT_EQ(written.code(), errc::unknown);
}

TEST_P(RecordDriverTest, WaitersAreCheckedAfterAnUnknownCommit) {
  const auto first = hold("x");
  const auto second = request({"x"});
  Answer<Grant> grant;
  queue(second, grant);
  store.commits.emplace_back(Committed::unknown, Failure{errc::unknown, "i/o error"});
  Answer<Released> released;
  on_loop([&] { driver->release(first, released.handler()); });
  ASSERT_TRUE(answered(released));
  EXPECT_EQ(released.code(), errc::unknown);
  ASSERT_TRUE(comes([&] { return grant.calls > 0; }, 500ms)) << "long before its heartbeat";
  EXPECT_TRUE(grant.granted());
}

TEST_P(RecordDriverTest, DamagedRecordFailsOnlyWhoWantsIt) {
  store.damaged.insert("bad");
  Answer<Grant> before, bad, after;
  on_loop([&] {
    driver->acquire(request({"a"}), before.handler());
    driver->acquire(request({"bad"}), bad.handler());
    driver->acquire(request({"b"}), after.handler());
  });
  ASSERT_TRUE(answered(after));
  EXPECT_TRUE(before.granted());
  EXPECT_EQ(bad.code(), errc::misconfigured);
  EXPECT_EQ(bad.words(), "damaged: bad");
  EXPECT_TRUE(after.granted());
  EXPECT_EQ(before.calls + bad.calls + after.calls, 3);
}

TEST_P(RecordDriverTest, HandOverInsideTheClientNeedsNoSecondTransaction) {
  const auto first = hold("x");
  const auto second = request({"x"});
  Answer<Grant> grant;
  queue(second, grant);
  const std::size_t begun = store.begun;
  const Instant before = boot_clock::now();
  on_loop([&] { driver->release(first, {}); });
  ASSERT_TRUE(answered(grant));
  ASSERT_TRUE(grant.granted());
  EXPECT_EQ(store.begun, begun + 1);
  EXPECT_THAT(store.rung, IsEmpty()) << "nobody rings his own bell";
  EXPECT_GE(grant.result->value().basis, before);
  EXPECT_LE(grant.result->value().ttl, 6s);
}

TEST_P(RecordDriverGroup, HandOverInTheBatchThatQueued) {
  const auto first = hold("x");
  const auto second = request({"x"});
  Answer<Grant> grant;
  const std::size_t begun = store.begun;
  on_loop([&] {
    driver->acquire(second, grant.handler());
    driver->release(first, {});
  });
  ASSERT_TRUE(answered(grant));
  EXPECT_TRUE(grant.granted());
  EXPECT_EQ(store.begun, begun + 1);
}

TEST_P(RecordDriverTest, HandOverToOthersRingsTheirBell) {
  const auto first = hold("x");
  const auto theirs = request({"x"});
  (void)elsewhere([&](LockModel& model) { return model.acquire(*theirs, true).ok(); });
  Answer<Released> released;
  on_loop([&] { driver->release(first, released.handler()); });
  ASSERT_TRUE(answered(released));
  EXPECT_THAT(store.rung, ElementsAre(Hint{other.client, Hint::Kind::granted, theirs->id}));
}

TEST_P(RecordDriverTest, HintOfAGrantIsLookedAt) {
  const auto theirs = other_holds("x");
  const auto ours = request({"x"});
  Answer<Grant> grant;
  queue(ours, grant);
  on_loop([&] {
    driver->hinted(Hint::Kind::granted, ours->id);  // a lie
    driver->hinted(Hint::Kind::granted, id_of(99));
  });
  other_releases(theirs);
  EXPECT_THAT(overheard, ElementsAre(Hint{self, Hint::Kind::granted, ours->id}));
  EXPECT_EQ(grant.calls, 0);
  const Instant before = boot_clock::now();
  on_loop([&] { driver->hinted(Hint::Kind::granted, ours->id); });
  ASSERT_TRUE(answered(grant));
  ASSERT_TRUE(grant.granted());
  EXPECT_EQ(store.transactions.back(), Access::read);
  EXPECT_GE(grant.result->value().basis, before) << "the transaction that told us";
  EXPECT_LE(grant.result->value().ttl, 6s);
}

TEST_P(RecordDriverTest, LostHintCostsAHeartbeatAtMost) {
  const auto theirs = other_holds("x");
  const auto ours = request({"x"}, Instant::max(), 600ms);
  Answer<Grant> grant;
  queue(ours, grant);
  other_releases(theirs);
  const Instant before = boot_clock::now();
  ASSERT_TRUE(answered(grant));
  EXPECT_TRUE(grant.granted());
  EXPECT_LT(boot_clock::now() - before, 600ms);
}

TEST_P(RecordDriverTest, ExpiryOfTheHolderIsSeenInTime) {
  other_holds("x", 250ms);
  const auto ours = request({"x"});
  Answer<Grant> grant;
  queue(ours, grant);
  const Instant before = boot_clock::now();
  ASSERT_TRUE(answered(grant));
  ASSERT_TRUE(grant.granted());
  EXPECT_LT(boot_clock::now() - before, 1s) << "and not at the heartbeat, 2 s from now";
  EXPECT_EQ(grant.result->value().predecessor, Predecessor::expired);
}

TEST_P(RecordDriverTest, HeartbeatsKeepTheWaiterAliveAndBringItBack) {
  const auto theirs = other_holds("x");
  const auto ours = request({"x"}, Instant::max(), 300ms);
  Answer<Grant> grant;
  queue(ours, grant);
  EXPECT_FALSE(comes(
      [&] {
        const auto& waiters = store.records["x"].waiters;
        return waiters.size() != 1 || waiters[0].alive_until < boot_clock::now() - 100ms;
      },
      1s))
      << "it was not kept alive";
  on_loop([&] { store.records["x"].waiters.clear(); });
  ASSERT_TRUE(comes([&] { return waits(ours); }, 1s));
  other_releases(theirs);
  ASSERT_TRUE(answered(grant));
  EXPECT_TRUE(grant.granted());
}

TEST_P(RecordDriverTest, HeartbeatsThatFailForTooLongMakeTheWaitUnknown) {
  make(300ms);
  other_holds("x");
  Answer<Grant> grant;
  queue(request({"x"}, Instant::max(), 200ms), grant);
  bool broken = true;
  store.at_begin = [&] {
    if (broken) store.begins.emplace_back(Failure{errc::unavailable, "gone"});
  };
  const Instant before = boot_clock::now();
  ASSERT_TRUE(answered(grant));
  EXPECT_EQ(grant.code(), errc::unknown) << "it may be granted yet";
  EXPECT_THAT(grant.words(), HasSubstr("gone"));
  EXPECT_GT(boot_clock::now() - before, 100ms) << "one failure is no reason";
  broken = false;
}

TEST_P(RecordDriverTest, DeadlineLeavesNothingBehind) {
  other_holds("x");
  const auto ours = request({"x"}, boot_clock::now() + 50ms);
  Answer<Grant> grant;
  queue(ours, grant);
  ASSERT_TRUE(answered(grant));
  EXPECT_EQ(grant.code(), errc::timeout);
  EXPECT_THAT(grant.words(), HasSubstr("is held by me (elsewhere:2"));
  EXPECT_FALSE(waits(ours));
  EXPECT_GE(boot_clock::now(), ours->deadline);
}

TEST_P(RecordDriverTest, WithdrawalThatFailsIsUnknown) {
  make(100ms);
  other_holds("x");
  const auto ours = request({"x"}, boot_clock::now() + 50ms);
  Answer<Grant> grant;
  queue(ours, grant);
  on_loop([&] { store.begins.emplace_back(Failure{errc::unavailable, "gone"}); });
  ASSERT_TRUE(answered(grant));
  EXPECT_EQ(grant.code(), errc::unknown);
}

TEST_P(RecordDriverTest, CancelLeavesNothingBehind) {
  other_holds("x");
  const auto ours = request({"x"});
  Answer<Grant> grant;
  queue(ours, grant);
  on_loop([&] {
    driver->cancel(ours);
    driver->cancel(ours);
  });
  ASSERT_TRUE(answered(grant));
  EXPECT_EQ(grant.code(), errc::canceled);
  EXPECT_FALSE(waits(ours));
  on_loop([&] { driver->cancel(ours); });
  EXPECT_EQ(grant.calls, 1);
}

TEST_P(RecordDriverTest, CancelThatComesLateGetsTheGrant) {
  const auto theirs = other_holds("x");
  const auto ours = request({"x"});
  Answer<Grant> grant;
  queue(ours, grant);
  other_releases(theirs);
  on_loop([&] { driver->cancel(ours); });
  ASSERT_TRUE(answered(grant));
  EXPECT_TRUE(grant.granted());
  EXPECT_TRUE(holds(ours));
}

TEST_P(RecordDriverGroup, CancelBeforeTheStoreHasHeardOfIt) {
  const auto ours = request({"x"});
  Answer<Grant> grant;
  on_loop([&] {
    driver->acquire(ours, grant.handler());
    driver->cancel(ours);
  });
  ASSERT_TRUE(answered(grant));
  EXPECT_EQ(grant.code(), errc::canceled);
  EXPECT_EQ(store.begun, 0U);
}

TEST_P(RecordDriverTest, CancelWhileTheStoreIsBusy) {
  bool locked = true;
  store.at_begin = [&] {
    if (locked) store.begins.emplace_back(Begun::busy);
  };
  const auto ours = request({"x"});
  Answer<Grant> grant;
  on_loop([&] { driver->acquire(ours, grant.handler()); });
  let_run(5ms);
  on_loop([&] {
    driver->cancel(ours);
    EXPECT_EQ(grant.code(), errc::canceled);
    locked = false;
  });
  let_run(10ms);
  EXPECT_EQ(grant.calls, 1);
  EXPECT_FALSE(holds(ours));
}

TEST_P(RecordDriverTest, HandlersMayCallTheDriver) {
  const auto a = request({"x"});
  const auto b = request({"x"});
  Answer<Grant> second;
  Answer<Released> released;
  on_loop([&] {
    driver->acquire(a, [&](Result<Grant> grant) {
      EXPECT_TRUE(grant.ok());
      driver->acquire(b, second.handler());
      driver->acquire(request({"y"}), [&](Result<Grant>) {
        driver->release(a, released.handler());
        driver->cancel(a);
      });
    });
  });
  ASSERT_TRUE(answered(second) && answered(released));
  EXPECT_TRUE(second.granted());
}

TEST_P(RecordDriverTest, LongChainOfHandOversDoesNotGoDeep) {
  constexpr int count = 600;
  std::vector<RequestPtr> leases;
  std::vector<int> order;
  const auto first = hold("x");
  on_loop([&] {
    for (int i = 0; i < count; ++i) {
      leases.push_back(request({"x"}));
      driver->acquire(leases.back(), [&, i](Result<Grant> grant) {
        EXPECT_TRUE(grant.ok());
        order.push_back(i);
        driver->release(leases[static_cast<std::size_t>(i)], {});
      });
    }
    driver->release(first, {});
  });
  ASSERT_TRUE(comes([&] { return order.size() == count; }, 60s));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_TRUE(comes([&] { return store.records["x"].idle(); }));
}

TEST_P(RecordDriverTest, LossIsVerifiedAndReported) {
  const auto lease = hold("x");
  on_loop([&] {
    driver->hinted(Hint::Kind::lost, lease->id);  // a lie
    driver->hinted(Hint::Kind::wanted, lease->id);
    driver->hinted(Hint::Kind::wanted, id_of(99));
  });
  ASSERT_TRUE(comes([&] { return !events.empty(); }));
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].kind, Event::Kind::wanted);
  EXPECT_EQ(events[0].lease, lease->id);

  (void)elsewhere([](LockModel& model) { return model.revoke("x"); });
  EXPECT_THAT(overheard, ElementsAre(Hint{self, Hint::Kind::lost, lease->id}));
  on_loop([&] {
    driver->hinted(Hint::Kind::lost, lease->id);
    driver->hinted(Hint::Kind::lost, lease->id);
  });
  ASSERT_TRUE(comes([&] { return events.size() > 1; }));
  let_run(5ms);
  ASSERT_THAT(events, SizeIs(2)) << "once";
  EXPECT_EQ(events[1].kind, Event::Kind::lost);
  EXPECT_EQ(events[1].reason, LossReason::revoked);
}

TEST_P(RecordDriverTest, OwnRevocationTellsTheHolder) {
  const auto lease = hold("x");
  Answer<std::size_t> count;
  on_loop([&] { driver->revoke("x", count.handler()); });
  ASSERT_TRUE(answered(count));
  EXPECT_EQ(count.result->value(), 1U);
  ASSERT_TRUE(comes([&] { return !events.empty(); }));
  EXPECT_EQ(events[0].kind, Event::Kind::lost);
  EXPECT_EQ(events[0].lease, lease->id);
  EXPECT_EQ(events[0].reason, LossReason::revoked);
}

TEST_P(RecordDriverTest, RevocationOfOneNameFreesTheOthers) {
  const auto lease = hold(request({"a", "b"}));
  Answer<std::size_t> count;
  on_loop([&] { driver->revoke("a", count.handler()); });
  ASSERT_TRUE(comes([&] { return !events.empty() && !holds(lease); }));
}

TEST_P(RecordDriverTest, WaiterTellsTheHolderOfTheSameClient) {
  const auto lease = hold("x");
  Answer<Grant> grant;
  queue(request({"x"}), grant);
  ASSERT_TRUE(comes([&] { return !events.empty(); }));
  EXPECT_EQ(events[0].kind, Event::Kind::wanted);
  EXPECT_EQ(events[0].lease, lease->id);
}

TEST_P(RecordDriverTest, RenewalSaysWhatIsGoneAndOnlyThat) {
  const auto kept = hold("a");
  const auto revoked = hold("b");
  (void)elsewhere([](LockModel& model) { return model.revoke("b"); });
  Answer<std::vector<Renewal>> renewals;
  on_loop([&] { driver->renew({kept, revoked}, renewals.handler()); });
  ASSERT_TRUE(answered(renewals));
  EXPECT_EQ(renewals.result->value()[0].outcome, Renewal::Outcome::renewed);
  EXPECT_EQ(renewals.result->value()[0].ttl, 30s);
  EXPECT_EQ(renewals.result->value()[1].outcome, Renewal::Outcome::gone);
  EXPECT_EQ(renewals.result->value()[1].reason, LossReason::revoked);
  let_run(5ms);
  EXPECT_THAT(events, IsEmpty()) << "the answer says it";
}

TEST_P(RecordDriverTest, CellsAreWatched) {
  Answer<CellValue> watched;
  Answer<std::uint64_t> written;
  on_loop([&] { driver->watch("c", 0, Instant::max(), watched.handler()); });
  ASSERT_TRUE(comes([&] { return store.cells["c"].watchers.size() == 1; }));
  EXPECT_EQ(watched.calls, 0);
  on_loop([&] { driver->write("c", "one", 0, written.handler()); });
  ASSERT_TRUE(answered(written) && answered(watched));
  EXPECT_EQ(watched.result->value().value, "one");
  const auto version = watched.result->value().version;
  EXPECT_EQ(version, written.result->value());

  Answer<CellValue> at_once, next;
  on_loop([&] {
    driver->watch("c", 0, boot_clock::now(), at_once.handler());
    driver->watch("c", version, Instant::max(), next.handler());
  });
  ASSERT_TRUE(answered(at_once));
  EXPECT_TRUE(at_once.granted());
  ASSERT_TRUE(comes([&] { return store.cells["c"].watchers.size() == 1; }));
  (void)elsewhere([&](LockModel& model) { return model.write("c", "two", version).ok(); });
  ASSERT_THAT(overheard, SizeIs(1));
  on_loop([&] { driver->hinted(overheard[0].kind, overheard[0].subject); });
  ASSERT_TRUE(answered(next));
  EXPECT_EQ(next.result->value().value, "two");
}

TEST_P(RecordDriverTest, WriteThatWasNotHintedIsFound) {
  Answer<CellValue> watched;
  on_loop([&] { driver->watch("c", 0, Instant::max(), watched.handler()); });
  ASSERT_TRUE(comes([&] { return store.cells["c"].watchers.size() == 1; }));
  (void)elsewhere([&](LockModel& model) { return model.write("c", "one", 0).ok(); });
  ASSERT_TRUE(comes([&] { return watched.calls > 0; }, 3s));
  EXPECT_EQ(watched.result->value().value, "one");
}

TEST_P(RecordDriverTest, WatchEndsAtItsDeadline) {
  Answer<CellValue> watched;
  on_loop([&] { driver->watch("c", 0, boot_clock::now() + 30ms, watched.handler()); });
  ASSERT_TRUE(answered(watched));
  EXPECT_EQ(watched.code(), errc::timeout);
  EXPECT_THAT(store.cells["c"].watchers, IsEmpty());
}

TEST_P(RecordDriverTest, DestructorWithdrawsAndCallsNoHandler) {
  other_holds("x");
  const auto held = hold("y");
  const auto waiting = request({"x"});
  Answer<Grant> grant, queued;
  Answer<CellValue> watched;
  queue(waiting, grant);
  on_loop([&] { driver->watch("c", 0, Instant::max(), watched.handler()); });
  ASSERT_TRUE(comes([&] { return store.cells["c"].watchers.size() == 1; }));
  on_loop([&] {
    if (GetParam() == Batching::group) {
      driver->acquire(request({"z"}), queued.handler());
      driver->release(held, {});
    }
    driver.reset();
  });
  let_run(5ms);
  EXPECT_EQ(grant.calls + queued.calls + watched.calls, 0);
  EXPECT_FALSE(waits(waiting));
  EXPECT_THAT(store.cells["c"].watchers, IsEmpty());
  EXPECT_TRUE(store.records["z"].idle());
  EXPECT_EQ(holds(held), GetParam() == Batching::none) << "a release that was asked for is done";
}

TEST_P(RecordDriverTest, DestructorDoesNotWaitLongForABusyStore) {
  other_holds("x");
  Answer<Grant> grant;
  queue(request({"x"}), grant);
  const Instant before = boot_clock::now();
  on_loop([&] {
    for (int i = 0; i < 1000; ++i) store.begins.emplace_back(Begun::busy);
    driver.reset();
  });
  EXPECT_LT(boot_clock::now() - before, 1s);
}

}  // namespace
}  // namespace holdfast::driver
