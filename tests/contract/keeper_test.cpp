// Rule 12: the keeper renews in batches, goes on after errors, and lets nothing stand in its way.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class Keeper : public Contract {
 protected:
  static constexpr std::chrono::milliseconds ttl = scaled(3s);

  static std::vector<Lease> hold(const Client& client, int count, std::chrono::milliseconds time) {
    std::vector<Lease> leases;
    for (int i = 0; i < count; ++i)
      leases.push_back(client.mutex("job:" + std::to_string(i), {.ttl = time}).acquire());
    return leases;
  }
  static std::size_t held(const std::vector<Lease>& leases) {
    return static_cast<std::size_t>(std::ranges::count_if(
        leases, [](const Lease& lease) { return lease.state() == LeaseState::held; }));
  }
};
HOLDFAST_ON_ALL_STORES(Keeper);

TEST_P(Keeper, RenewsInBatches) {
  Faults faults;
  const Client a = faulty(faults);
  const auto leases = hold(a, 200, ttl);
  const auto renewed = [&] {
    std::size_t count = 0;
    for (const auto& call : faults.calls(Step::renew)) count += call.requests.size();
    return count;
  };
  ASSERT_TRUE(eventually([&] { return renewed() >= 2 * leases.size(); }));
  EXPECT_LE(faults.count(Step::renew), static_cast<int>(renewed() / 10));
  EXPECT_EQ(held(leases), leases.size());
}

TEST_P(Keeper, GoesOnAfterErrors) {
  Faults faults;
  const Client a = faulty(faults);
  Lease lease = a.mutex("x", {.ttl = ttl}).acquire();
  Event lost;
  lease.on_loss([&](LossReason) { lost.set(); });
  for (const Fault& fault : {refuse(errc::unavailable), refuse(errc::timeout), lose_reply()}) {
    const int before = faults.count(Step::renew);
    const auto end = lease.valid_until();
    faults.next(Step::renew, fault);
    ASSERT_TRUE(faults.wait_for(Step::renew, before + 2)) << "it gave up after one error";
    ASSERT_TRUE(eventually([&] { return lease.valid_until() > end; }));
  }
  EXPECT_EQ(lost.count(), 0);
  EXPECT_TRUE(eventually([&] { return lease.state() == LeaseState::held; }));
  EXPECT_EQ(truth("x").holders.at(0).token, lease.token());
}

TEST_P(Keeper, TriesUntilTheDeadline) {
  Faults faults;
  const Client a = faulty(faults);
  Lease lease = a.mutex("x", {.ttl = ttl}).acquire();
  faults.always(Step::renew, refuse());
  ASSERT_TRUE(faults.wait_for(Step::renew, 1));
  const auto end = lease.valid_until();
  ASSERT_TRUE(eventually([&] { return lease.state() == LeaseState::lost; }));
  const auto calls = faults.calls(Step::renew);
  EXPECT_GE(calls.size(), 3u);
  EXPECT_GT(calls.back().at, end - ttl / 3) << "it gave up long before the deadline";
  EXPECT_LT(calls.size(), 200u) << "a storm of retries";
}

TEST_P(Keeper, ALeaseThatCannotBeRenewedHarmsNoOther) {
  Faults faults;
  const Client a = faulty(faults);
  faults.always(Step::renew, only("bad", refuse()));
  Lease bad = a.mutex("bad", {.ttl = ttl}).acquire();
  Lease good = a.mutex("good", {.ttl = ttl}).acquire();
  const auto end = good.valid_until();
  ASSERT_TRUE(eventually([&] { return bad.state() == LeaseState::lost; }));
  EXPECT_GT(good.valid_until(), end);
  EXPECT_EQ(good.state(), LeaseState::held);
}

TEST_P(Keeper, AStoreThatHangsDelaysNoOtherStore) {
  Faults faults;
  const Client hung = faulty(faults);
  const auto elsewhere = GetParam().make();
  const Client well(elsewhere->url());
  Lease lost = hung.mutex("x", {.ttl = ttl}).acquire();
  Lease kept = well.mutex("x", {.ttl = ttl}).acquire();
  faults.all(endless(hold_request()));
  ASSERT_TRUE(eventually([&] { return lost.state() == LeaseState::lost; }));
  EXPECT_EQ(kept.state(), LeaseState::held);
  faults.clear();
  faults.let_go();
}

TEST_P(Keeper, AWaitThatHangsDelaysNoRenewal) {
  Faults faults;
  const Client a = faulty(faults);
  faults.next(Step::acquire, only("hung", endless(hold_request())));
  const Lease kept = a.mutex("x", {.ttl = ttl}).acquire();
  Asking hung(a.mutex("hung"));
  ASSERT_TRUE(faults.wait_for(Step::acquire, 2));
  for (int i = 0; i < 2; ++i) {
    const auto end = kept.valid_until();
    ASSERT_TRUE(eventually([&] { return kept.valid_until() > end; }));
  }
  faults.let_go();
}

TEST_P(Keeper, NeedsNoCallerAndNoCallback) {
  // All cores burn, and the thread that delivers losses is blocked by a user's callback.
  const Client a = client();
  const auto leases = hold(a, rounds(2000), ttl);
  Lease victim = a.mutex("victim").acquire();
  Event blocked;
  Event leave;
  victim.on_loss([&](LossReason) {
    blocked.set();
    (void)leave.wait(1, 2 * patience);
  });
  std::atomic<bool> over = false;
  {
    std::vector<std::jthread> burning;
    for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i)
      burning.emplace_back([&] {
        while (!over) continue;
      });
    admin_.revoke("victim");
    EXPECT_TRUE(blocked.wait());
    sleep_until(boot_clock::now() + ttl * 3 / 2);
    EXPECT_EQ(held(leases), leases.size());
    over = true;
  }
  leave.set();
  EXPECT_THAT(admin_.list("", 10'000), SizeIs(leases.size()));
}

}  // namespace
}  // namespace holdfast::test
