/// What other processes of this program do in a case.

#include <fmt/format.h>

#include <atomic>
#include <latch>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "take.hpp"
#include "usage.hpp"
#include "worker.hpp"

namespace holdfast::bench {

namespace {

using Role = std::vector<std::string>;

Duration nanoseconds(const std::string& text) { return Duration(std::stoll(text)); }

/// contend URL NAME WHO HOLD-NS PAUSE-NS; told: BEGIN END (nanoseconds of the boot clock).
/// Takes a name again and again, and answers with its holds.
void contend(const Role& role) {
  const Client client(role.at(1));
  const Mutex mutex = client.mutex(role.at(2));
  const auto who = static_cast<std::uint32_t>(std::stoul(role.at(3)));
  const Duration hold = nanoseconds(role.at(4));
  const Duration pause = nanoseconds(role.at(5));
  give({});
  for (std::string order; next_order(order);) {
    Instant::rep begin = 0;
    Instant::rep end = 0;
    std::istringstream(order) >> begin >> end;
    std::this_thread::sleep_for(Duration(begin - clock_now()));
    Answer answer;
    while (clock_now() < end) {
      answer.holds.push_back(take(mutex, who, 0, hold));
      if (pause > Duration::zero()) std::this_thread::sleep_for(pause);
    }
    give(answer);
  }
}

/// idle URL NAME; told: SETTLE-NS MEASURE-NS. Waits for a name that it does not get, and answers
/// with the processor time that this takes.
void idle(const Role& role) {
  const Client client(role.at(1));
  const Mutex mutex = client.mutex(role.at(2));
  give({});
  for (std::string order; next_order(order);) {
    Duration::rep settle = 0;
    Duration::rep measure = 0;
    std::istringstream(order) >> settle >> measure;
    std::stop_source stop;
    bool got = false;
    std::thread waiter([&] {
      try {
        static_cast<void>(mutex.acquire(stop.get_token()));
        got = true;
      } catch (const Error&) {  // canceled
      }
    });
    std::this_thread::sleep_for(Duration(settle));
    const double cpu = cpu_seconds();
    const Instant::rep begin = clock_now();
    std::this_thread::sleep_for(Duration(measure));
    Answer answer;
    answer.figures.cpu = cpu_seconds() - cpu;
    answer.figures.wall = seconds(Duration(clock_now() - begin));
    stop.request_stop();
    waiter.join();
    if (got) throw std::runtime_error("got what another process holds");
    give(answer);
  }
}

/// leases URL COUNT TTL-MS; told: SPREAD-NS MEASURE-NS. Takes that many leases, spread over a time,
/// holds them, and answers with what it costs to do so.
void leases(const Role& role) {
  const Client client(role.at(1));
  const auto count = std::stoul(role.at(2));
  LeaseOptions options;
  options.ttl = std::chrono::milliseconds(std::stol(role.at(3)));
  give({});
  for (std::string order; next_order(order);) {
    Duration::rep spread = 0;
    Duration::rep measure = 0;
    std::istringstream(order) >> spread >> measure;

    for (int i = 0; i < 100; ++i)  // buffers that grow only once
      static_cast<void>(client.mutex(fmt::format("warm:{}", i), options).acquire());
    std::vector<Lease> held(count);
    const double bytes = resident_bytes();

    std::atomic<std::size_t> failed{0};
    std::latch granted(static_cast<std::ptrdiff_t>(count));
    const Instant begin = boot_clock::now();
    constexpr std::size_t together = 50;
    for (std::size_t i = 0; i < count; ++i) {
      if (i % together == 0)
        std::this_thread::sleep_until(begin + Duration(spread) * static_cast<Duration::rep>(i) /
                                                  static_cast<Duration::rep>(count));
      client.mutex(fmt::format("order:payment:{:06}", i), options)
          .start_acquire(boot_clock::time_point::max(), {},
                         [&, i](const std::exception_ptr& error, std::optional<Lease> lease) {
                           if (error || !lease)
                             ++failed;
                           else
                             held[i] = std::move(*lease);
                           granted.count_down();
                         });
    }
    granted.wait();
    if (failed != 0) throw std::runtime_error(fmt::format("{} leases failed", failed.load()));

    Answer answer;
    answer.figures.bytes = (resident_bytes() - bytes) / static_cast<double>(count);
    const std::uint64_t renewals = client.metrics().renewals;
    const double cpu = cpu_seconds();
    const Instant from = boot_clock::now();
    std::this_thread::sleep_for(Duration(measure));
    answer.figures.cpu = cpu_seconds() - cpu;
    answer.figures.wall = seconds(boot_clock::now() - from);
    answer.figures.renewals = client.metrics().renewals - renewals;
    for (const Lease& lease : held)
      answer.figures.lost += lease.state() == LeaseState::held ? 0U : 1U;
    give(answer);
  }
}

}  // namespace

int serve(const std::vector<std::string>& role) {
  try {
    if (role.at(0) == "contend") return contend(role), 0;
    if (role.at(0) == "idle") return idle(role), 0;
    if (role.at(0) == "leases") return leases(role), 0;
    throw std::runtime_error("there is no such role");
  } catch (const std::exception& error) {
    fmt::print(stderr, "holdfast-bench, worker {}: {}\n", fmt::join(role, " "), error.what());
    return 2;
  }
}

}  // namespace holdfast::bench
