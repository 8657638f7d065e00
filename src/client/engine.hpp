#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include <holdfast/client.hpp>

#include "base/clock.hpp"
#include "base/fork.hpp"
#include "base/loop.hpp"
#include "base/result.hpp"
#include "base/url.hpp"
#include "client/compensation.hpp"
#include "client/hold.hpp"
#include "client/keeper.hpp"
#include "client/lane.hpp"
#include "client/recipe.hpp"
#include "client/ticket.hpp"
#include "client/watchdog.hpp"
#include "driver/driver.hpp"

namespace holdfast::client {

/// Everything behind a Client: brings callers, the local queue, the keeper and a driver together.
///
/// Threads: the driver is used on the loop only. Leases and the local queue are guarded by
/// `mutex_`, so that a lease passes from thread to thread without the loop. Order of locks: mutex_,
/// then the loop's own. Callbacks of users run on the watchdog's thread (signals) or on the loop
/// (asynchronous acquires), never under a lock.
///
/// Split by concern over engine_*.cpp: open and close, acquire, release, keep, admin.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  using DriverFactory = std::function<Result<std::unique_ptr<driver::Driver>>(driver::Host)>;

  /// Opens a store by its URL. Throws Error.
  [[nodiscard]] static std::shared_ptr<Engine> open(std::string_view url, ClientOptions options);
  /// The same over any driver: the seam for tests.
  [[nodiscard]] static std::shared_ptr<Engine> open(std::string store, const DriverFactory& factory,
                                                    ClientOptions options);

  /// A Client over an engine that was opened by hand.
  [[nodiscard]] static Client client(std::shared_ptr<Engine> engine) noexcept {
    return Client(std::move(engine));
  }

  Engine(std::string store, ClientOptions options);
  ~Engine();

  /// Releases what is held, ends all waits, stops the threads. Idempotent.
  void close() noexcept;

  [[nodiscard]] std::shared_ptr<const Recipe> recipe(std::vector<std::string> names, Mode mode,
                                                     const LeaseOptions&);

  [[nodiscard]] Result<Lease> acquire(const std::shared_ptr<const Recipe>&, Instant deadline,
                                      std::stop_token);
  using Done = std::function<void(std::exception_ptr, std::optional<Lease>)>;
  void start_acquire(const std::shared_ptr<const Recipe>&, Instant deadline, std::stop_token,
                     Done done);

  [[nodiscard]] ReleaseOutcome release(Hold& hold) noexcept;
  /// Without waiting for the store: for destructors.
  void release_detached(Hold& hold) noexcept;
  [[nodiscard]] std::optional<Failure> renew(Hold& hold);
  [[nodiscard]] std::optional<Failure> downgrade(Hold& hold);

  [[nodiscard]] std::stop_token stop_token(Hold& hold);
  void on_loss(Hold& hold, std::function<void(LossReason)> callback);
  void on_jeopardy(Hold& hold, std::function<void()> callback);

  [[nodiscard]] Result<ResourceInfo> inspect(std::string name);
  [[nodiscard]] Result<std::vector<ResourceInfo>> list(std::string prefix, std::size_t limit);
  [[nodiscard]] Result<std::size_t> revoke(std::string name);
  [[nodiscard]] Result<CellValue> read(std::string cell);
  [[nodiscard]] Result<std::uint64_t> write(std::string cell, std::string value,
                                            std::uint64_t expected);
  [[nodiscard]] Result<CellValue> watch(std::string cell, std::uint64_t since, Instant deadline);

  [[nodiscard]] const Capabilities& capabilities() const noexcept { return capabilities_; }
  [[nodiscard]] const std::string& store() const noexcept { return store_; }
  [[nodiscard]] Metrics metrics();
  [[nodiscard]] bool forked() const noexcept { return fork_generation() != born_; }

 private:
  struct AsyncTicket;
  /// A blocking question to the driver; aborted when the client is closed meanwhile.
  struct Question {
    UniqueFunction<void()> abort;
    Question* before = nullptr;
    Question* after = nullptr;
  };
  /// What is to be told to users, outside of all locks.
  using Signals = std::vector<Task>;

  driver::Host host();
  template <class T, class Start>
  Result<T> ask(std::string_view what, std::string_view name, Start start);
  [[nodiscard]] Failure closed() const;
  [[nodiscard]] std::string about(std::string_view what, std::string_view name,
                                  std::string_view words) const;
  [[nodiscard]] std::optional<Failure> unusable() const;

  // acquire (engine_acquire.cpp)
  enum class Begun { finished, queued, to_store };
  Begun begin(Ticket& ticket);
  void send_to_store(Ticket& ticket);  // under mutex_; stand() is next
  void stand(Ticket& ticket);          // on the loop
  void answered(Ticket& ticket, Result<driver::Grant> answer);
  void cancel(Ticket& ticket);
  void finish(Ticket& ticket, Result<Lease> result);
  [[nodiscard]] bool leave_local_queue(Ticket& ticket);
  [[nodiscard]] Ticket* next_in(Lane& lane);

  [[nodiscard]] Lease seat(const std::shared_ptr<Tenure>& tenure, const Ticket& ticket,
                           std::uint32_t offset, Predecessor predecessor, Instant now);
  void post_stand(Ticket* ticket);  // under mutex_; null: does nothing

  // release (engine_release.cpp)
  struct Leaving {
    std::optional<ReleaseOutcome> outcome;  // decided without the store
    bool at_store = false;                  // else: to be released there
    Ticket* next = nullptr;                 // to stand at the store afterwards
    Instant until{};                        // when the store forgets it by itself
  };
  Leaving unseat(Hold& hold);
  [[nodiscard]] bool pass(const Hold& from, Instant now);  // under mutex_
  void depart(const std::shared_ptr<Tenure>& tenure, const Leaving& leaving);
  void compensate(driver::RequestPtr request, Instant until, Compensation::Until proof);

  // keep (engine_keep.cpp)
  void keep();  // on the loop: renews what is due, arms the timer
  void renewals(std::vector<std::shared_ptr<Tenure>> batch,
                Result<std::vector<driver::Renewal>> answer);
  void wanted(Tenure& tenure, Instant now);
  void lose(Tenure& tenure, LossReason reason, Signals& signals);
  void doubt(Tenure& tenure, Signals& signals);
  [[nodiscard]] Instant bark(Instant now);
  void event(const driver::Event& event);
  void send(Signals signals);
  void log(LogLevel level, std::string_view event, std::string_view resource,
           std::string_view words) const noexcept;

  const std::string store_;
  const ClientOptions options_;
  const Clock& clock_ = Clock::system();
  const std::uint32_t born_;
  Capabilities capabilities_;

  Loop loop_;
  Question* questions_ = nullptr;           // on the loop
  bool asking_ = false;                     // on the loop: within the acquire() of the driver
  std::unique_ptr<driver::Driver> driver_;  // on the loop
  Loop::Timer keep_timer_{loop_};           // on the loop
  Instant keep_armed_ = Instant::max();     // on the loop
  std::unordered_map<Id, std::unique_ptr<Compensation>> compensations_;  // on the loop

  std::mutex mutex_;  // guards what follows
  bool closed_ = false;
  Keeper keeper_;
  Ticket* tickets_ = nullptr;  // all that are not finished
  Signals signals_;
  Metrics metrics_;

  std::mutex lanes_mutex_;  // guards the map alone
  std::unordered_map<std::string, std::weak_ptr<Lane>> lanes_;

  std::optional<Watchdog> watchdog_;  // last: its thread uses all of the above
};

}  // namespace holdfast::client
