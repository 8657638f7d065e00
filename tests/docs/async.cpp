// The examples that need Boost.Asio: docs/guide.md, and the forms of docs/gcc12-coroutines.md that
// g++ 12 compiles correctly.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/asio.hpp>
#include <holdfast/holdfast.hpp>

#include "check.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

int charges = 0;
asio::awaitable<void> charge_card(std::uint64_t token) {
  check(token > 0);
  ++charges;
  co_return;
}

// [coroutine]
asio::awaitable<bool> pay(holdfast::Mutex mutex) {
  auto lease = co_await mutex.async_acquire(10s, asio::use_awaitable);
  if (!lease) co_return false;  // others have had it for ten seconds
  co_await charge_card(lease->token());
  lease->ensure_held();
  co_return true;
}  // released in the background
// [/coroutine]

/// Runs a coroutine to its end and returns its result.
template <class T>
T run(asio::awaitable<T> coroutine) {
  asio::io_context io;
  auto result = asio::co_spawn(io, std::move(coroutine), asio::use_future);
  io.run();
  return result.get();
}

asio::awaitable<bool> times_out(holdfast::Mutex mutex) {
  auto lease = co_await mutex.async_acquire(50ms, asio::use_awaitable);
  co_return !lease.has_value();
}

void callbacks(const holdfast::Client& client) {
  auto mutex = client.mutex("job");
  auto busy = mutex.acquire();
  asio::io_context io;
  bool canceled = false;
  // [cancel]
  asio::cancellation_signal stop;
  mutex.async_acquire(asio::bind_cancellation_slot(
      stop.slot(),
      asio::bind_executor(io, [&](std::exception_ptr error, std::optional<holdfast::Lease> lease) {
        check(error && !lease);  // the error is Error(errc::canceled)
        canceled = true;
      })));
  stop.emit(asio::cancellation_type::terminal);
  // [/cancel]
  io.run();
  check(canceled && client.inspect("job").waiters.empty());

  busy.release();
  // [future]
  std::future<std::optional<holdfast::Lease>> lease = mutex.async_acquire(10s, asio::use_future);
  // [/future]
  check(lease.get().has_value());
}

// [options]
asio::awaitable<bool> with_options(const holdfast::Client& client) {
  // Safe: no member of LeaseOptions has a destructor that does anything.
  auto mutex = client.mutex("job", {.ttl = 10s, .owner = "worker-1", .note = "nightly"});
  auto lease = co_await mutex.async_acquire(1s, asio::use_awaitable);
  co_return lease.has_value();
}
// [/options]

// [names]
asio::awaitable<std::size_t> with_names(const holdfast::Client& client) {
  const std::vector<std::string> names{"account:17", "account:42"};  // named, not in the co_await
  auto transfer = client.mutex(names);
  auto lease = co_await transfer.async_acquire(1s, asio::use_awaitable);
  co_return lease ? lease->names().size() : 0;
}
// [/names]

// [callable]
template <class Work>
asio::awaitable<int> under_lease(holdfast::Mutex mutex, Work work) {
  auto lease = co_await mutex.async_acquire(asio::use_awaitable);
  co_return lease ? work(lease->token()) : -1;
}

asio::awaitable<int> with_callable(const holdfast::Client& client, std::string customer) {
  auto work = [customer](std::uint64_t token) { return token > 0 ? int(customer.size()) : 0; };
  co_return co_await under_lease(client.mutex("job"), work);  // a lambda that has a name
}
// [/callable]

}  // namespace

int main() {
  holdfast::Client client("memory:async");
  check(run(pay(client.mutex("order:17"))) && charges == 1);
  auto lease = client.mutex("order:17").acquire();
  check(run(times_out(client.mutex("order:17"))));
  callbacks(client);
  check(run(with_options(client)));
  check(run(with_names(client)) == 2);
  check(run(with_callable(client, "a customer whose name fills more than a small string")) == 52);
}
