#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>

#include <holdfast/clock.hpp>
#include <holdfast/error.hpp>
#include <holdfast/lease.hpp>

namespace holdfast {

class Client;
namespace client {
class Engine;
struct Recipe;
}  // namespace client

/// Something leases can be taken from: an immutable recipe of names, mode and options. It holds
/// nothing itself, is cheap to copy, and may be used by any number of threads at once.
///
/// Calls come in the shapes of std::timed_mutex, with a lease for a result. Where a call may end
/// without one, *busy* is an empty optional, not an error. Throwing calls have a twin that takes a
/// `std::error_code&`, set to errc::timeout (or canceled) when the result is empty for that reason.
///
/// Cancellation: a wait that times out or is canceled leaves neither a queue entry nor a lock; a
/// grant that raced it is either returned or released. Thread-safe.
class LeaseSource {
 public:
  /// Waits for ever. Throws Error.
  [[nodiscard]] Lease acquire() const;
  /// Waits until granted or until `stop` is requested (then throws errc::canceled).
  [[nodiscard]] Lease acquire(std::stop_token stop) const;

  /// One try, no wait.
  [[nodiscard]] std::optional<Lease> try_acquire() const {
    return attempt(boot_clock::time_point::min(), {});
  }
  [[nodiscard]] std::optional<Lease> try_acquire(std::error_code& error) const noexcept {
    return attempt(boot_clock::time_point::min(), {}, error);
  }

  /// Waits for at most `wait`; zero or less is one try.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Lease> try_acquire_for(std::chrono::duration<Rep, Period> wait,
                                                     std::stop_token stop = {}) const {
    return attempt(after(wait), std::move(stop));
  }
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Lease> try_acquire_for(std::chrono::duration<Rep, Period> wait,
                                                     std::error_code& error) const noexcept {
    return attempt(after(wait), {}, error);
  }

  /// Waits until a point of any clock, read once at the call.
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<Lease> try_acquire_until(std::chrono::time_point<Clock, Duration> end,
                                                       std::stop_token stop = {}) const {
    return attempt(after(end - Clock::now()), std::move(stop));
  }
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<Lease> try_acquire_until(std::chrono::time_point<Clock, Duration> end,
                                                       std::error_code& error) const noexcept {
    return attempt(after(end - Clock::now()), {}, error);
  }

  /// Asynchronous acquire with any Asio completion token; signature
  /// `void(std::exception_ptr, std::optional<Lease>)`, empty when the wait ended first.
  /// Include <holdfast/asio.hpp> to use it. Cancellation: terminal, partial and total all end the
  /// wait as a stop token does; the handler then gets Error(errc::canceled).
  template <class Rep, class Period, class CompletionToken>
  auto async_acquire(std::chrono::duration<Rep, Period> wait, CompletionToken&& token) const;
  template <class CompletionToken>
  auto async_acquire(CompletionToken&& token) const;

  /// What the asynchronous forms build on: starts an acquire and returns at once. `done` is called
  /// exactly once, on a thread of the client, and must not block; it gets a lease, or an exception,
  /// or neither when the wait ended first.
  using Done = std::function<void(std::exception_ptr, std::optional<Lease>)>;
  void start_acquire(boot_clock::time_point deadline, std::stop_token stop, Done done) const;

  /// `wait` from now, saturated: huge waits mean "for ever".
  template <class Rep, class Period>
  [[nodiscard]] static boot_clock::time_point after(
      std::chrono::duration<Rep, Period> wait) noexcept {
    using namespace std::chrono;
    if (wait <= wait.zero()) return boot_clock::time_point::min();
    if (duration<double>(wait) > hours(24 * 365 * 10)) return boot_clock::time_point::max();
    return boot_clock::now() + duration_cast<nanoseconds>(wait);
  }

 protected:
  friend class Client;
  LeaseSource(std::shared_ptr<client::Engine> engine,
              std::shared_ptr<const client::Recipe> recipe) noexcept
      : engine_(std::move(engine)), recipe_(std::move(recipe)) {}

  std::shared_ptr<client::Engine> engine_;
  std::shared_ptr<const client::Recipe> recipe_;

 private:
  [[nodiscard]] std::optional<Lease> attempt(boot_clock::time_point deadline,
                                             std::stop_token stop) const;
  [[nodiscard]] std::optional<Lease> attempt(boot_clock::time_point deadline, std::stop_token stop,
                                             std::error_code& error) const noexcept;
};

}  // namespace holdfast
