// Field failures B01 to B28. The others are in field_failures_more_test.cpp.

#include <unistd.h>

#include "contract/field_failures.hpp"
#include "support/outside.hpp"
#include "support/scratch.hpp"

namespace holdfast::test {
namespace {

HOLDFAST_ON_ALL_STORES(FieldFailure);
HOLDFAST_ON_STORES_WITH(several_processes, FieldFailureOfProcesses);
HOLDFAST_ON_STORES_WITH(open_to_others, FieldFailureAtOpenStores);

TEST_P(FieldFailure, B01_foreign_release) {
  Lease a = a_.mutex("x", brief).acquire();
  const Lease b = b_.mutex("x", lasting).acquire();
  EXPECT_EQ(a.release(), ReleaseOutcome::already_lost);
  EXPECT_EQ(truth("x").holders.at(0).token, b.token());
  EXPECT_FALSE(c_.mutex("x").try_acquire());
}

TEST_P(FieldFailure, B02_renewal_gives_up_after_one_error) {
  Faults faults;
  const Client cut = faulty(faults);
  Lease lease = cut.mutex("x", {.ttl = scaled(3s)}).acquire();
  Event lost;
  lease.on_loss([&](LossReason) { lost.set(); });
  ASSERT_TRUE(faults.wait_for(Step::renew, 1));
  faults.next(Step::renew, refuse());  // exactly the second one
  EXPECT_FALSE(b_.mutex("x").try_acquire_for(scaled(4s)));
  EXPECT_EQ(lost.count(), 0);
  EXPECT_EQ(truth("x").holders.at(0).token, lease.token());
}

TEST_P(FieldFailureOfProcesses, B04_winner_whose_lease_died_while_queuing) {
  Lease a = a_.mutex("x", lasting).acquire();
  Taker b = taker();
  b.send("acquire", "x", short_ttl.count(), (10 * patience).count());
  ASSERT_TRUE(queued("x"));
  b.process().pause();  // no heartbeat leaves it
  a.release();
  Lease c = c_.mutex("x", lasting).acquire();  // after b's TTL at most
  b.process().resume();
  EXPECT_FALSE(b.next("granted", 200ms)) << "it was told of a lease that was dead";
  c.release();
  // It queues again, or ends with an error.
  if (const auto granted = b.next("granted", scaled(5s))) {
    EXPECT_GT(granted->number(1), c.token());
  } else {
    b.expect("error", 0ms);
  }
}

TEST_P(FieldFailure, B05_holder_that_is_cut_off_keeps_working) {
  const Scratch scratch;
  const Register file(scratch.file("register"));
  Faults faults;
  const Client cut = faulty(faults);
  const Lease a = cut.mutex("x", {.ttl = scaled(1500ms)}).acquire();
  std::jthread working([&] {
    for (std::error_code lost; a.ensure_held(lost);) {
      file.append(a.token(), "a", false);
      std::this_thread::sleep_for(5ms);
    }
  });
  faults.all(endless(hold_request()));
  const Lease b = b_.mutex("x", lasting).acquire();
  const auto granted = boot_clock::now();
  EXPECT_EQ(a.state(), LeaseState::lost);
  working.join();
  EXPECT_TRUE(file.append(b.token(), "b", true));
  EXPECT_FALSE(file.append(a.token(), "a", true)) << "the late write";
  for (const auto& line : file.lines()) EXPECT_TRUE(line.who == "b" || line.at < granted);
}

TEST_P(FieldFailure, B08_error_during_acquire_taken_as_success) {
  Faults faults;
  const Client cut = faulty(faults);
  const Lease a = a_.mutex("x", lasting).acquire();
  bool ran = false;
  for (const Fault& fault : {refuse(), refuse(errc::unknown), lose_reply()}) {
    faults.next(Step::acquire, fault);
    // lose_reply: the answer would have been "busy" after the wait.
    EXPECT_TRUE(error_of([&] { return cut.mutex("x").try_acquire(); }));
    faults.next(Step::acquire, refuse());
    EXPECT_TRUE(error_of([&] { with_lease(cut.mutex("x"), [&](Held) { ran = true; }); }));
  }
  EXPECT_FALSE(ran);
  EXPECT_EQ(truth("x").holders.at(0).token, a.token());
}

TEST_P(FieldFailure, B14_session_removed_under_a_live_holder) {
  Faults faults;
  const Client cut = faulty(faults);
  Lease a = cut.mutex("x", lasting).acquire();
  Event lost;
  a.on_loss([&](LossReason) { lost.set(); });
  faults.tell({driver::Event::Kind::lost, faults.calls(Step::acquire)[0].requests[0]->id,
               LossReason::session_lost});
  ASSERT_TRUE(lost.wait());
  EXPECT_EQ(error_of([&] { a.renew(); }), errc::lost) << "a new session under the old lease";
  EXPECT_EQ(a.loss_reason(), LossReason::session_lost);
}

TEST_P(FieldFailure, B16_deposed_holder_still_writes) {
  // Two servers take turns at a record; the lock is taken away from them again and again.
  const Scratch scratch;
  const Register record(scratch.file("record"));
  std::atomic<bool> over = false;
  std::atomic<int> acknowledged = 0;
  {
    std::vector<std::jthread> servers;
    for (const Client* client : {&a_, &b_})
      servers.emplace_back(
          [&, who = client == &a_ ? "a" : "b", mutex = client->mutex("x", lasting)] {
            while (!over) {
              const auto lease = mutex.try_acquire_for(patience);
              ASSERT_TRUE(lease);
              for (int i = 0; i < 20; ++i)  // it does not look whether it still holds
                acknowledged += record.append(lease->token(), who, true);
            }
          });
    for (int i = 0; i < rounds(40); ++i) {
      admin_.revoke("x");
      std::this_thread::sleep_for(1ms);
    }
    over = true;
  }
  History history;
  for (const auto& line : record.lines()) history.add(History::Write{"x", line.who, line.token});
  EXPECT_THAT(history.fenced_exclusion(), IsEmpty());
  EXPECT_EQ(record.lines().size(), static_cast<std::size_t>(acknowledged));
  EXPECT_GT(acknowledged, 0);
}

TEST_P(FieldFailure, B17_failed_try_leaves_a_queue_entry) {
  Faults faults;
  const Client cut = faulty(faults);
  Lease a = a_.mutex("x", lasting).acquire();
  for (const Fault& fault : {lose_reply(), refuse(errc::unknown)}) {
    faults.next(Step::acquire, fault);
    EXPECT_EQ(error_of([&] { return cut.mutex("x", lasting).try_acquire_for(20ms); }),
              errc::unknown);
  }
  EXPECT_TRUE(queued("x", 0));
  a.release();
  EXPECT_TRUE(c_.mutex("x").try_acquire_for(patience));
}

TEST_P(FieldFailure, B19_object_refuses_to_acquire_after_a_loss) {
  const Mutex mutex = a_.mutex("x", lasting);
  for (int i = 0; i < 3; ++i) {
    const Lease lease = mutex.acquire();
    EXPECT_EQ(admin_.revoke("x"), 1u);
    EXPECT_TRUE(eventually([&] { return lease.state() == LeaseState::lost; }));
    EXPECT_TRUE(mutex.try_acquire_for(patience));
    ASSERT_TRUE(becomes_free("x"));
  }
}

TEST_P(FieldFailure, B20_failed_release_forgets_the_entry) {
  Faults faults;
  const Client cut = faulty(faults);
  const Mutex mutex = cut.mutex("x", lasting);
  Lease lease = mutex.acquire();
  faults.next(Step::release, refuse(), 3);
  EXPECT_EQ(lease.release(), ReleaseOutcome::unknown);
  auto again = mutex.try_acquire_for(patience);
  ASSERT_TRUE(again) << "it waits for itself";
  EXPECT_EQ(again->release(), ReleaseOutcome::released);
  EXPECT_TRUE(b_.mutex("x").try_acquire_for(patience));
}

TEST_P(FieldFailure, B22_token_dropped_before_the_release_is_confirmed) {
  Faults faults;
  const Client cut = faulty(faults);
  Lease lease = cut.mutex("x", {.ttl = long_ttl, .auto_renew = false}).acquire();
  faults.always(Step::release, refuse());
  EXPECT_EQ(lease.release(), ReleaseOutcome::unknown);
  EXPECT_THAT(truth("x").holders, SizeIs(1));
  faults.clear();
  EXPECT_EQ(lease.release(), ReleaseOutcome::released);
  EXPECT_THAT(truth("x").holders, IsEmpty());
}

TEST_P(FieldFailure, B23_client_timeout_but_the_lock_is_taken) {
  Faults faults;
  ClientOptions options;
  options.request_timeout = scaled(300ms);
  const Client cut = faulty(faults, options);
  faults.next(Step::acquire, hold_reply());
  Asking asking(cut.mutex("x", lasting));
  if (const auto lease = asking.outcome()) {
    EXPECT_EQ(truth("x").holders.at(0).token, lease->token());  // it asked again: the same answer
  } else {
    EXPECT_EQ(asking.error(), errc::unknown);
    EXPECT_TRUE(b_.mutex("x").try_acquire_for(patience)) << "taken for a whole TTL";
  }
  faults.let_go();
}

TEST_P(FieldFailure, B25_token_stored_on_a_shared_object) {
  const Mutex shared = a_.mutex("x", brief);
  Lease first = shared.acquire();
  Asking second(shared);
  const Lease next = second.granted();
  EXPECT_EQ(first.release(), ReleaseOutcome::already_lost);
  EXPECT_FALSE(shared.try_acquire());
  EXPECT_EQ(truth("x").holders.at(0).token, next.token());
}

TEST_P(FieldFailure, B28_several_keys_at_once) {
  std::vector<std::jthread> threads;
  std::atomic<int> finished = 0;
  for (const bool forth : {true, false})
    threads.emplace_back([&, forth] {
      const Mutex mutex = forth ? a_.mutex({"1", "2"}, lasting) : b_.mutex({"2", "1"}, lasting);
      for (int i = 0; i < rounds(100); ++i) finished += mutex.try_acquire_for(patience).has_value();
    });
  threads.clear();
  EXPECT_EQ(finished, 2 * rounds(100));
  ASSERT_TRUE(becomes_idle("1"));
  ASSERT_TRUE(becomes_idle("2"));
  Lease c = c_.mutex("2", lasting).acquire();
  EXPECT_FALSE(a_.mutex({"1", "2", "3"}, lasting).try_acquire());
  std::vector<std::string> in_use;
  for (const auto& info : admin_.list()) in_use.push_back(info.name);
  EXPECT_THAT(in_use, ElementsAre("2"));
  EXPECT_EQ(truth("2").holders.at(0).token, c.token());
}

TEST_P(FieldFailureOfProcesses, B10_expiry_judged_with_client_clocks) {
#if defined(HOLDFAST_ASAN) || defined(HOLDFAST_TSAN)
  GTEST_SKIP() << "libfaketime is not made for sanitizers";
#endif
  const char* library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
  if (::access(library, R_OK) != 0) FAIL() << "libfaketime is not installed";
  const auto shifted = [&](const char* offset) {
    return taker({std::string("LD_PRELOAD=") + library, std::string("FAKETIME=") + offset,
                  "FAKETIME_DONT_FAKE_MONOTONIC=1"});
  };
  Taker behind = shifted("-3m");
  Taker ahead = shifted("+3m");
  for (Taker* holder : {&behind, &ahead}) {
    holder->acquire("x", long_ttl);
    for (Taker* other : {&behind, &ahead}) {
      if (other == holder) continue;
      other->send("acquire", "x", long_ttl.count(), 0);
      other->expect("busy");
    }
    EXPECT_FALSE(a_.mutex("x").try_acquire());
    holder->send("release", "x");
    holder->expect("released");
  }
}

}  // namespace
}  // namespace holdfast::test
