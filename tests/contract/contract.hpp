#pragma once

#include <gmock/gmock.h>

#include <atomic>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "contract/stores.hpp"
#include "support/event.hpp"
#include "support/faulty_driver.hpp"
#include "support/history.hpp"
#include "support/taker_process.hpp"
#include "support/timing.hpp"

namespace holdfast::test {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using std::chrono::milliseconds;

/// The base of all contract tests: a fresh store, and ways to look at it.
class Contract : public testing::TestWithParam<StoreKind> {
 protected:
  [[nodiscard]] std::string url() const { return store_->url(); }
  [[nodiscard]] Client client(const ClientOptions& options = {}) const {
    return Client(url(), options);
  }
  /// One that lives to the end of the test.
  [[nodiscard]] const Client& another() { return others_.emplace_back(url()); }
  /// A client with faults between it and the store.
  [[nodiscard]] Client faulty(const Faults& faults, const ClientOptions& options = {}) const {
    return faults.client(url(), options);
  }
  [[nodiscard]] Taker taker(const std::vector<std::string>& environment = {}) const {
    return Taker(HOLDFAST_TAKER_PATH, url(), environment);
  }

  /// The truth: what the store says through a connection of its own.
  [[nodiscard]] ResourceInfo truth(std::string_view name) const { return admin_.inspect(name); }
  [[nodiscard]] bool becomes_free(std::string_view name,
                                  std::chrono::milliseconds limit = patience) const {
    return eventually([&] { return truth(name).holders.empty(); }, limit);
  }
  /// Waits until the store shows that many waiters.
  [[nodiscard]] bool queued(std::string_view name, std::size_t count = 1) const {
    return eventually([&] { return truth(name).waiters.size() == count; });
  }
  /// Nothing is left behind: no holder, no waiter.
  [[nodiscard]] bool becomes_idle(std::string_view name,
                                  std::chrono::milliseconds limit = patience) const {
    return eventually(
        [&] {
          const auto info = truth(name);
          return info.holders.empty() && info.waiters.empty();
        },
        limit);
  }

  /// How long a free resource may stay so while somebody waits for it.
  [[nodiscard]] std::chrono::milliseconds wake_up_bound() const {
    return admin_.capabilities().wake_up_bound + lateness;
  }
  /// How long a waiter that has died may stand in the way.
  [[nodiscard]] std::chrono::milliseconds dead_waiter_bound() const {
    return admin_.capabilities().dead_waiter_bound + lateness;
  }

  std::unique_ptr<Store> store_ = GetParam().make();
  Client admin_{store_->url()};

 private:
  std::deque<Client> others_;
};

/// Instantiates a suite for the stores that it applies to.
#define HOLDFAST_ON_ALL_STORES(Suite)                                \
  INSTANTIATE_TEST_SUITE_P(, Suite, testing::ValuesIn(all_stores()), \
                           testing::PrintToStringParamName())
#define HOLDFAST_ON_STORES_WITH(trait, Suite)                                          \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Suite);                                \
  INSTANTIATE_TEST_SUITE_P(, Suite, testing::ValuesIn(stores_with(&StoreKind::trait)), \
                           testing::PrintToStringParamName())

/// An acquire on a thread of its own.
class Asking {
 public:
  explicit Asking(LeaseSource source, std::chrono::milliseconds wait = 10 * patience)
      : result_(std::async(std::launch::async,
                           [this, source = std::move(source), wait]() -> std::optional<Lease> {
                             try {
                               auto lease = source.try_acquire_for(wait, stop_.get_token());
                               ended_ = boot_clock::now();
                               return lease;
                             } catch (const Error& error) {
                               error_ = error.code();
                               return std::nullopt;
                             }
                           })) {}
  ~Asking() { stop_.request_stop(); }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  [[nodiscard]] bool done(std::chrono::milliseconds limit = 0ms) const {
    return result_.wait_for(limit) == std::future_status::ready;
  }
  void stop() { stop_.request_stop(); }

  /// The lease. Throws if the wait ended without one, or does not end.
  [[nodiscard]] Lease granted(std::chrono::milliseconds limit = patience) {
    auto lease = outcome(limit);
    if (!lease)
      throw std::runtime_error("not granted: " + (error_ ? error_.message() : "timed out"));
    return *std::move(lease);
  }
  /// What came out: a lease, an error (see error()), or neither.
  [[nodiscard]] std::optional<Lease> outcome(std::chrono::milliseconds limit = patience) {
    if (!done(limit)) throw std::runtime_error("the acquire does not end");
    return result_.get();
  }
  [[nodiscard]] std::error_code error() const { return error_; }
  [[nodiscard]] boot_clock::time_point ended() const { return ended_; }

 private:
  std::stop_source stop_;
  std::error_code error_;
  boot_clock::time_point ended_;
  std::future<std::optional<Lease>> result_;  // the first to go
};

/// What a lock protects: counts those inside, and those that should not have been.
class Room {
 public:
  Room() = default;
  explicit Room(int places) : places_(places) {}
  void enter(int weight = 1) {
    const int inside = inside_.fetch_add(weight) + weight;
    if (inside > places_) ++crowded_;
    for (int most = most_; inside > most && !most_.compare_exchange_weak(most, inside);) continue;
  }
  void leave(int weight = 1) { inside_ -= weight; }
  [[nodiscard]] int crowded() const { return crowded_; }  ///< how often there were too many
  [[nodiscard]] int most() const { return most_; }

 private:
  const int places_ = 1;
  std::atomic<int> inside_{0};
  std::atomic<int> crowded_{0};
  std::atomic<int> most_{0};
};

/// The code of the Error that a call throws; none if it does not.
template <class Call>
[[nodiscard]] std::error_code error_of(Call&& call) {
  try {
    static_cast<void>(call());
  } catch (const Error& error) {
    return error.code();
  }
  return {};
}

/// The whole text of the Error that a call throws; empty if it does not.
template <class Call>
[[nodiscard]] std::string words_of(Call&& call) {
  try {
    static_cast<void>(call());
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace holdfast::test
