// What a client says of itself: capabilities, metrics, its URL.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class MetricsOf : public Contract {};
HOLDFAST_ON_ALL_STORES(MetricsOf);

TEST_P(MetricsOf, AcquiresByOutcome) {
  const Client a = client();
  const Client b = client();
  Lease lease = a.mutex("x").acquire();
  EXPECT_FALSE(b.mutex("x").try_acquire());
  EXPECT_FALSE(b.mutex("x").try_acquire_for(10ms));
  Asking stopped(b.mutex("x"));
  ASSERT_TRUE(queued("x"));
  EXPECT_EQ(b.metrics().waiting, 1u);
  stopped.stop();
  EXPECT_FALSE(stopped.outcome());
  EXPECT_EQ(a.metrics().acquired, 1u);
  EXPECT_EQ(a.metrics().held, 1u);
  EXPECT_EQ(a.metrics().wait.count, 1u);
  EXPECT_EQ(b.metrics().acquired, 0u);
  EXPECT_EQ(b.metrics().timed_out, 2u);
  EXPECT_EQ(b.metrics().canceled, 1u);
  EXPECT_EQ(b.metrics().waiting, 0u);
  lease.release();
  EXPECT_EQ(a.metrics().released, 1u);
  EXPECT_EQ(a.metrics().held, 0u);
  EXPECT_EQ(a.metrics().hold.count, 1u);
}

TEST_P(MetricsOf, LossesByReason) {
  Faults faults;
  const Client a = faulty(faults);
  const Lease revoked = a.mutex("x").acquire();
  admin_.revoke("x");
  const Lease expired = a.mutex("y", {.ttl = short_ttl, .auto_renew = false}).acquire();
  const Lease limited = a.mutex("z", {.max_hold = short_ttl}).acquire();
  const auto lost = [&](LossReason reason) {
    return a.metrics().lost[static_cast<std::size_t>(reason)];
  };
  for (const auto reason : {LossReason::revoked, LossReason::expired, LossReason::hold_limit})
    EXPECT_TRUE(eventually([&] { return lost(reason) == 1; })) << to_string(reason);
  EXPECT_EQ(a.metrics().held, 0u);
}

TEST_P(MetricsOf, Renewals) {
  Faults faults;
  const Client a = faulty(faults);
  Lease lease = a.mutex("x", {.ttl = scaled(3s)}).acquire();
  lease.renew();
  EXPECT_EQ(a.metrics().renewals, 1u);
  EXPECT_EQ(a.metrics().renewal_slack.count, 1u);
  EXPECT_GT(a.metrics().renewal_slack.quantile(0.5), 0us);
  faults.always(Step::renew, refuse());
  EXPECT_TRUE(eventually([&] { return a.metrics().jeopardies == 1; }));
  EXPECT_GE(a.metrics().renewal_failures, 1u);
}

TEST_P(MetricsOf, Failures) {
  Faults faults;
  const Client a = faulty(faults);
  faults.next(Step::acquire, refuse());
  EXPECT_EQ(error_of([&] { return a.mutex("x").acquire(); }), errc::unavailable);
  EXPECT_EQ(a.metrics().failed, 1u);
  faults.next(Step::acquire, refuse(errc::unknown));
  EXPECT_EQ(error_of([&] { return a.mutex("x").acquire(); }), errc::unknown);
  EXPECT_EQ(a.metrics().unknown, 1u);
}

TEST_P(MetricsOf, TheStoreAreItsCapabilities) {
  const Capabilities& can = another().capabilities();
  EXPECT_EQ(can.store, GetParam().name);
  EXPECT_FALSE(can.token_source.empty());
  EXPECT_FALSE(can.expiry_clock.empty());
  EXPECT_FALSE(can.exclusion.empty());
  EXPECT_TRUE(can.exclusive);
  EXPECT_LT(can.min_ttl, can.max_ttl);
  EXPECT_GT(can.wake_up_bound, 0ms);
  EXPECT_LE(can.dead_waiter_bound, 10s) << "within seconds";
  EXPECT_GT(can.max_name_bytes, 0u);
  EXPECT_THAT(another().url(), HasSubstr(GetParam().name));
}

}  // namespace
}  // namespace holdfast::test
