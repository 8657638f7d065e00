// The end of a client: waits end with errc::closed, leases are released, and it is quick.

#include <filesystem>

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class Close : public Contract {};
HOLDFAST_ON_ALL_STORES(Close);

TEST_P(Close, ReleasesWhatIsHeld) {
  std::vector<Lease> leases;
  {
    const Client a = client();
    leases.push_back(a.mutex("x", {.ttl = long_ttl}).acquire());
    leases.push_back(a.shared_mutex("r", {.ttl = long_ttl}).shared().acquire());
    leases.push_back(a.semaphore("s", 2, {.ttl = long_ttl}).acquire());
    leases.push_back(a.mutex({"v", "w"}, {.ttl = long_ttl}).acquire());
  }
  EXPECT_TRUE(eventually([&] { return admin_.list().empty(); }));
  for (auto& lease : leases) {
    EXPECT_EQ(lease.state(), LeaseState::lost);
    EXPECT_EQ(lease.loss_reason(), LossReason::client_closed);
    EXPECT_GT(lease.token(), 0u);
    EXPECT_EQ(error_of([&] { lease.renew(); }), errc::lost);
    EXPECT_NE(lease.release(), ReleaseOutcome::unknown);
  }
}

TEST_P(Close, EndsWaits) {
  const Lease holder = another().mutex("x").acquire();
  std::optional<Client> a(client());
  Asking at_store(a->mutex("x"));
  ASSERT_TRUE(queued("x"));
  Asking local(a->mutex("x"));
  auto watching = std::async(std::launch::async, [cell = a->cell("c")] {
    return error_of([&] { return cell.watch(0, patience); });
  });
  Inbox<std::error_code> asynchronous;
  a->mutex("x").start_acquire(boot_clock::time_point::max(), {},
                              [&](std::exception_ptr error, std::optional<Lease>) {
                                asynchronous.put(error_of([&] {
                                  if (error) std::rethrow_exception(error);
                                }));
                              });
  EXPECT_FALSE(local.done(20ms));
  const auto before = boot_clock::now();
  a.reset();
  for (Asking* one : {&at_store, &local}) {
    EXPECT_FALSE(one->outcome());
    EXPECT_EQ(one->error(), errc::closed);
  }
  EXPECT_EQ(asynchronous.take(), errc::closed);
  EXPECT_EQ(watching.get(), errc::closed);
  EXPECT_LT(boot_clock::now(), before + lateness);
  EXPECT_TRUE(queued("x", 0));
}

TEST_P(Close, WhatOutlivesItSaysSo) {
  std::optional<Client> a(client());
  const Mutex mutex = a->mutex("x");
  const Cell cell = a->cell("x");
  a.reset();
  EXPECT_EQ(error_of([&] { return mutex.acquire(); }), errc::closed);
  EXPECT_EQ(error_of([&] { return mutex.try_acquire(); }), errc::closed);
  std::error_code why;
  EXPECT_FALSE(mutex.try_acquire_for(1s, why));
  EXPECT_EQ(why, errc::closed);
  EXPECT_EQ(error_of([&] { return cell.read(); }), errc::closed);
  Inbox<std::error_code> asynchronous;
  mutex.start_acquire(boot_clock::time_point::max(), {},
                      [&](std::exception_ptr error, std::optional<Lease>) {
                        asynchronous.put(error_of([&] {
                          if (error) std::rethrow_exception(error);
                        }));
                      });
  EXPECT_EQ(asynchronous.take(), errc::closed);
}

TEST_P(Close, IsBoundedThoughTheStoreHangs) {
  Faults faults;
  ClientOptions options;
  options.request_timeout = scaled(300ms);
  std::optional<Client> a(faulty(faults, options));
  const Lease lease = a->mutex("x", {.ttl = long_ttl}).acquire();
  faults.all(endless(hold_request()));
  Asking hung(a->mutex("y"));
  ASSERT_TRUE(faults.wait_for(Step::acquire, 2));
  const auto before = boot_clock::now();
  a.reset();
  EXPECT_LT(boot_clock::now(), before + options.request_timeout + lateness);
  EXPECT_EQ(lease.state(), LeaseState::lost);
  EXPECT_FALSE(hung.outcome());
  EXPECT_EQ(hung.error(), errc::closed);
}

TEST_P(Close, MovesWithTheClient) {
  Client from = client();
  const Lease lease = from.mutex("x").acquire();
  Client to = std::move(from);
  EXPECT_EQ(lease.state(), LeaseState::held);
  to = client();
  EXPECT_EQ(lease.state(), LeaseState::lost);
  EXPECT_TRUE(to.mutex("x").try_acquire_for(patience));
}

TEST_P(Close, MayHappenInACallback) {
  Event closed;
  std::optional<Client> a(client());
  Lease lease = a->mutex("x").acquire();
  lease.on_loss([&](LossReason) {
    a.reset();
    closed.set();
  });
  admin_.revoke("x");
  EXPECT_TRUE(closed.wait());
  EXPECT_TRUE(becomes_free("x"));
}

TEST_P(Close, LeavesNoDescriptorAndNoThread) {
  const auto count = [](const char* what) {
    return std::distance(std::filesystem::directory_iterator(what),
                         std::filesystem::directory_iterator());
  };
  const auto come_and_go = [&] {
    const Client a = client();
    const Lease lease = a.mutex("x").acquire();
    const Client b = client();
    EXPECT_FALSE(b.mutex("x").try_acquire());
  };
  come_and_go();  // what is opened once stays
  const auto descriptors = count("/proc/self/fd");
  const auto threads = count("/proc/self/task");
  for (int i = 0; i < 20; ++i) come_and_go();
  EXPECT_TRUE(eventually([&] { return count("/proc/self/fd") <= descriptors + 5; }));
  EXPECT_TRUE(eventually([&] { return count("/proc/self/task") <= threads; }));
}

}  // namespace
}  // namespace holdfast::test
