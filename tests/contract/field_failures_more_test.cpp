// Field failures B31 to B74. Those before are in field_failures_test.cpp.

#include <filesystem>

#include "contract/field_failures.hpp"

namespace holdfast::test {
namespace {

/// Descriptors, threads: what a leak would show in.
std::size_t resources() {
  std::size_t count = 0;
  for (const char* what : {"/proc/self/fd", "/proc/self/task"})
    for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator(what)) ++count;
  return count;
}

TEST_P(FieldFailure, B31_lost_unlock_message) {
  // (a) the waiter comes in while the holder leaves: see
  // Waiting.AReleaseAtTheMomentOfAskingIsNotMissed, and here with many waiters. (c) its driver
  // hears nothing unasked.
  Faults faults;
  const Client deaf = faulty(faults);
  faults.mute_events(true);
  for (int i = 0; i < rounds(50); ++i) {
    Lease a = a_.mutex("x", lasting).acquire();
    Asking waiting(deaf.mutex("x", lasting));
    ASSERT_TRUE(i % 2 || queued("x"));
    a.release();
    const auto released = boot_clock::now();
    EXPECT_TRUE(waiting.granted());
    EXPECT_LT(waiting.ended(), released + wake_up_bound());
    ASSERT_TRUE(becomes_free("x"));
  }
}

TEST_P(FieldFailureAtOpenStores, B31_key_deleted_by_hand) {
  const Lease a = a_.mutex("x", {.ttl = 10 * long_ttl}).acquire();
  Asking waiting(b_.mutex("x", lasting));
  ASSERT_TRUE(queued("x"));
  store_->erase("x");
  const auto erased = boot_clock::now();
  EXPECT_TRUE(waiting.granted());
  EXPECT_LT(waiting.ended(), erased + dead_waiter_bound() + wake_up_bound());
}

TEST_P(FieldFailure, B32_predecessor_that_is_already_gone) {
  std::atomic<std::int64_t> longest = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&, i, mutex = another().mutex("x", lasting)] {
        std::minstd_rand random(static_cast<unsigned>(i + 1));
        for (int round = 0; round < rounds(100); ++round) {
          const auto before = boot_clock::now();
          auto lease = mutex.try_acquire_for(patience);
          ASSERT_TRUE(lease);
          const auto waited = (boot_clock::now() - before).count();
          for (auto seen = longest.load();
               seen < waited && !longest.compare_exchange_weak(seen, waited);)
            continue;
          if (random() % 4 == 0)
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
          lease->release();
        }
      });
  }
  EXPECT_LT(std::chrono::nanoseconds(longest), 2 * wake_up_bound());
}

TEST_P(FieldFailureAtOpenStores, B34_parent_record_removed_while_waiting) {
  Lease a = a_.mutex("x", lasting).acquire();
  Asking second(b_.mutex("x", lasting));
  ASSERT_TRUE(queued("x", 1));
  Asking third(c_.mutex("x", lasting));
  ASSERT_TRUE(queued("x", 2));
  store_->erase("x");
  (void)a.release();
  // Their order may be lost with the record, but nobody is.
  EXPECT_TRUE(eventually([&] { return second.done() || third.done(); }, 2 * patience));
  Asking& first_in = second.done() ? second : third;
  Asking& last_in = second.done() ? third : second;
  EXPECT_EQ(first_in.granted().state(), LeaseState::held);
  EXPECT_EQ(last_in.granted().state(), LeaseState::held);
}

TEST_P(FieldFailure, B35_read_lock_lifetimes) {
  Lease longer = a_.shared_mutex("x", {.ttl = scaled(2s), .auto_renew = false}).shared().acquire();
  const Lease shorter = b_.shared_mutex("x", brief).shared().acquire();
  Asking writing(c_.shared_mutex("x", lasting));
  Lease writer = writing.granted();
  EXPECT_GE(writing.ended(), longer.valid_until());
  writer.downgrade();
  Asking next(a_.shared_mutex("x", lasting));
  EXPECT_FALSE(next.done(50ms));
  writer.release();
  EXPECT_TRUE(next.granted());
}

TEST_P(FieldFailure, B37_local_mutex_kept_after_remote_expiry) {
  Lease first = a_.mutex("x", brief).acquire();
  sleep_until(first.valid_until() + short_ttl / 4);
  EXPECT_EQ(first.release(), ReleaseOutcome::already_lost);
  auto second =
      std::async(std::launch::async, [&] { return a_.mutex("x").try_acquire_for(patience); });
  EXPECT_TRUE(second.get());
}

TEST_P(FieldFailure, B38_silent_release_of_an_expired_lock) {
  std::optional<Lease> a(a_.mutex("x", brief).acquire());
  const Lease b = b_.mutex("x", lasting).acquire();
  EXPECT_EQ(a->release(), ReleaseOutcome::already_lost);
  EXPECT_NO_THROW(a.reset());
  EXPECT_EQ(error_of([&] {
              with_lease(c_.mutex("y", brief), [](Held held) { sleep_until(held.valid_until()); });
            }),
            errc::lost);
}

TEST_P(FieldFailureAtOpenStores, B40_database_conflicts) {
  // Many clients on few names, while another program locks the database again and again.
  std::atomic<int> errors = 0;
  std::atomic<int> lost = 0;
  Lease idle = a_.mutex("idle", {.ttl = scaled(4s)}).acquire();
  idle.on_loss([&](LossReason) { ++lost; });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 10; ++i)
      threads.emplace_back([&, mutex = another().mutex("key:" + std::to_string(i % 3), lasting)] {
        for (int round = 0; round < rounds(30); ++round) {
          std::error_code why;
          auto lease = mutex.try_acquire_for(patience, why);
          if (!lease || lease->release() != ReleaseOutcome::released) ++errors;
        }
      });
    for (int i = 0; i < 4; ++i) store_->lock_for(250ms);
  }
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(lost, 0);
  idle.ensure_held();
}

TEST_P(FieldFailure, B49_result_misread) {
  Faults faults;
  const Client cut = faulty(faults);
  for (const errc code :
       {errc::timeout, errc::canceled, errc::lost, errc::unavailable, errc::unknown,
        errc::unsupported, errc::denied, errc::misconfigured, errc::closed, errc::conflict}) {
    SCOPED_TRACE(make_error_code(code).message());
    Lease lease = cut.mutex("held", {.ttl = long_ttl, .auto_renew = false}).acquire();
    faults.next(Step::acquire, refuse(code));
    std::error_code why;
    EXPECT_FALSE(cut.mutex("x").try_acquire(why));
    EXPECT_TRUE(why);
    faults.next(Step::renew, refuse(code));
    const auto end = lease.valid_until();
    EXPECT_TRUE(error_of([&] { lease.renew(); }));
    EXPECT_EQ(lease.valid_until(), end);
    faults.next(Step::release, refuse(code));
    EXPECT_NE(lease.release(), ReleaseOutcome::released);
    EXPECT_TRUE(becomes_idle("held"));
  }
}

TEST_P(FieldFailure, B52_no_usable_fence) {
  Fence fence;
  const Lease a = a_.mutex("x", brief).acquire();
  const Lease b = b_.mutex("x", lasting).acquire();
  EXPECT_TRUE(fence.admit(b.token()));
  EXPECT_FALSE(fence.admit(a.token()));
}

TEST_P(FieldFailure, B53_newcomer_must_watch_a_whole_lease) {
  const Lease dead = a_.mutex("x", {.ttl = scaled(2s), .auto_renew = false}).acquire();
  const auto granted = boot_clock::now();
  for (bool in = false; !in;) {
    const Client newcomer = client();
    in = newcomer.mutex("x").try_acquire_for(50ms).has_value();
    ASSERT_LT(boot_clock::now(), granted + scaled(2s) + wake_up_bound());
  }
}

TEST_P(FieldFailureOfProcesses, B56_lock_with_no_end) {
  std::minstd_rand random(std::random_device{}());
  for (int i = 0; i < std::max(rounds(15), 4); ++i) {
    Process dying({HOLDFAST_TAKER_PATH, url()});
    dying.write("acquire x 1000 0");
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
    dying.kill();
    for (const auto& holder : truth("x").holders) {
      EXPECT_GT(holder.expires_in, 0ms);
      EXPECT_LE(holder.expires_in, 1000ms);
    }
  }
  ASSERT_TRUE(b_.mutex("x").try_acquire_for(patience));
  Lease victim = a_.mutex("y", lasting).acquire();
  EXPECT_EQ(admin_.revoke("y"), 1u);
  EXPECT_EQ(admin_.revoke("y"), 0u);
  EXPECT_EQ(admin_.revoke("never"), 0u);
  EXPECT_GT(b_.mutex("y").acquire().token(), victim.token());
}

TEST_P(FieldFailure, B59_wait_time_used_as_ttl) {
  const auto a = a_.mutex("x", {.ttl = long_ttl, .auto_renew = false}).try_acquire_for(100ms);
  ASSERT_TRUE(a);
  EXPECT_GT(a->valid_until(), boot_clock::now() + long_ttl / 2);
  EXPECT_FALSE(b_.mutex("x").try_acquire_for(50ms));
  sleep_until(boot_clock::now() + 200ms);
  EXPECT_FALSE(b_.mutex("x").try_acquire_for(50ms));
  EXPECT_EQ(a->state(), LeaseState::held);
}

TEST_P(FieldFailure, B61_unlock_in_a_destructor_ends_the_process) {
  Faults faults;
  const Client cut = faulty(faults);
  for (const Fault& fault :
       {refuse(), refuse(errc::denied), lose_reply(), endless(hold_request())}) {
    faults.clear();
    auto lease = std::make_unique<Lease>(cut.mutex("x", lasting).acquire());
    faults.always(Step::release, fault);
    EXPECT_NO_THROW(lease.reset());
    EXPECT_THROW(
        {
          const Lease guard = cut.mutex("y", lasting).acquire();
          throw std::runtime_error("work");
        },
        std::runtime_error);
    faults.clear();
    faults.let_go();
    EXPECT_TRUE(becomes_free("x"));
    EXPECT_TRUE(becomes_free("y"));
  }
}

TEST_P(FieldFailure, B62_blind_retry) {
  Faults faults;
  const Client cut = faulty(faults);
  std::uint64_t last = 0;
  for (int i = 0; i < rounds(60); ++i) {
    if (i % 3 == 0) faults.next(Step::acquire, lose_reply());
    if (i % 5 == 0) faults.next(Step::release, lose_reply());
    std::error_code why;
    auto lease = cut.mutex("x", lasting).try_acquire_for(patience, why);
    ASSERT_TRUE(lease || why == errc::unknown) << why.message();
    if (!lease) continue;
    EXPECT_GT(lease->token(), last);
    last = lease->token();
    EXPECT_NE(lease->release(), ReleaseOutcome::already_lost);
  }
  EXPECT_TRUE(becomes_idle("x"));
}

TEST_P(FieldFailureOfProcesses, B64_identity_collision) {
  // The same owner, host and (in a container, always) process id: still two.
  const auto alone = [&] {
    return std::vector<std::string>{
        "/usr/bin/unshare",  "--user", "--pid", "--fork", "--kill-child",
        HOLDFAST_TAKER_PATH, url()};
  };
  Process first(alone());
  if (!first.read_line()) GTEST_SKIP() << "no pid namespaces here";
  Process second(alone());
  ASSERT_TRUE(second.read_line());
  first.write("acquire x 30000 0");
  const auto says = [](Process& process, const char* what) {
    while (const auto line = process.read_line())
      if (line->find(what) != std::string::npos) return true;
    return false;
  };
  EXPECT_TRUE(says(first, "granted"));
  second.write("acquire x 30000 0");
  EXPECT_TRUE(says(second, "busy"));
  first.kill();
  Process again(alone());
  again.write("acquire x 30000 0");
  EXPECT_TRUE(says(again, "busy")) << "it adopted its predecessor's lease";
}

TEST_P(FieldFailure, B67_leak_per_attempt) {
  Faults faults;
  const Client cut = faulty(faults);
  const Lease a = a_.mutex("x", lasting).acquire();
  EXPECT_FALSE(b_.mutex("x").try_acquire());
  const auto before = resources();
  for (int i = 0; i < rounds(3000); ++i) EXPECT_FALSE(b_.mutex("x").try_acquire());
  faults.always(Step::acquire, refuse());
  for (int i = 0; i < rounds(1000); ++i)
    EXPECT_TRUE(error_of([&] { return cut.mutex("x").try_acquire(); }));
  EXPECT_LE(resources(), before + 5);
  EXPECT_THAT(truth("x").waiters, IsEmpty());
}

TEST_P(FieldFailure, B68_permission_denied_looks_like_contention) {
  Faults faults;
  const Client cut = faulty(faults);
  faults.next(Step::acquire, refuse(errc::denied), 2);
  EXPECT_EQ(error_of([&] { return cut.mutex("order:7").acquire(); }), errc::denied);
  EXPECT_THAT(words_of([&] { return cut.mutex("order:7").acquire(); }), HasSubstr("refused"));
  Lease lease = cut.mutex("order:7", {.ttl = scaled(1500ms)}).acquire();
  Event doubt;
  Event lost;
  lease.on_jeopardy([&] { doubt.set(); });
  lease.on_loss([&](LossReason) { lost.set(); });
  faults.always(Step::renew, refuse(errc::denied));
  EXPECT_TRUE(doubt.wait());
  EXPECT_TRUE(lost.wait());
  EXPECT_LT(boot_clock::now(), lease.valid_until() + lateness);
}

TEST_P(FieldFailure, B55_transient_and_final_errors) {
  Faults faults;
  const Client cut = faulty(faults);
  Lease lease = cut.mutex("x", {.ttl = scaled(3s)}).acquire();
  Event lost;
  lease.on_loss([&](LossReason) { lost.set(); });
  faults.next(Step::renew, refuse(errc::unavailable));
  faults.next(Step::renew, refuse(errc::timeout));
  ASSERT_TRUE(faults.wait_for(Step::renew, 4));
  EXPECT_EQ(lost.count(), 0);
  faults.mute_events(true);
  const auto end = lease.valid_until();
  admin_.revoke("x");  // the next renewal hears that it is gone
  ASSERT_TRUE(lost.wait());
  EXPECT_LT(boot_clock::now(), end + scaled(3s));
}

TEST_P(FieldFailure, B73_store_up_but_locks_dead) {
  Faults faults;
  ClientOptions options;
  options.request_timeout = scaled(500ms);
  const Client cut = faulty(faults, options);
  faults.always(Step::acquire, hold_request());
  const auto before = boot_clock::now();
  const auto resources_before = resources();
  std::vector<std::future<std::error_code>> calls;
  for (int i = 0; i < 20; ++i)
    calls.push_back(std::async(std::launch::async, [&, i] {
      std::error_code why;
      const auto lease =
          cut.mutex("x" + std::to_string(i), {.ttl = scaled(2s)}).try_acquire_for(200ms, why);
      return lease ? std::error_code() : why;
    }));
  for (auto& call : calls)
    EXPECT_THAT(call.get(), AnyOf(errc::unknown, errc::timeout, errc::unavailable));
  EXPECT_LT(boot_clock::now(), before + 200ms + options.request_timeout + lateness);
  EXPECT_TRUE(eventually([&] { return resources() <= resources_before + 5; }));
  faults.clear();
  faults.let_go();
  EXPECT_TRUE(eventually([&] { return admin_.list().empty(); }, long_ttl));
}

}  // namespace
}  // namespace holdfast::test
