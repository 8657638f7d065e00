#include "run/wait.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <exception>

#include "base/duration.hpp"
#include "base/name.hpp"
#include "human.hpp"
#include "interrupted.hpp"
#include "message.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

/// The end of an acquire, carried from the client's thread to ours.
struct Outcome {
  Descriptor event{::eventfd(0, EFD_CLOEXEC)};
  std::exception_ptr error;
  std::optional<Lease> lease;
};

LeaseSource source(const Client& client, const RunOptions& options) {
  LeaseOptions how;
  how.ttl = options.ttl;
  how.max_hold = options.max_hold;
  how.owner = options.owner;
  how.note = options.note;
  if (options.permits > 0) return client.semaphore(options.names.front(), options.permits, how);
  if (options.shared) return client.shared(options.names, how);
  return client.mutex(options.names, how);
}

boot_clock::time_point deadline(const RunOptions& options) {
  return options.wait ? LeaseSource::after(*options.wait) : boot_clock::time_point::max();
}

/// Who is in the way, as far as that can be told.
std::string in_the_way(const Client& client, const RunOptions& options) {
  try {
    for (const auto& name : options.names)
      if (const auto resource = client.inspect(name); !resource.holders.empty())
        return fmt::format("{} is {}", holdfast::quoted(name), holder_words(resource));
  } catch (const Error&) {
    // Only words for people: that they are missing is no failure.
  }
  return fmt::format("{} is held by others", shown(options.names));
}

[[noreturn]] void complain_busy(const Client& client, const RunOptions& options) {
  const auto why = in_the_way(client, options);
  if (*options.wait == 0ms)
    throw Complaint(busy, "busy", why, "The command was not started. --wait 10s would wait for it");
  throw Complaint(busy, "timed out",
                  fmt::format("{} after a wait of {}", why, format_duration(*options.wait)),
                  "The command was not started");
}

}  // namespace

std::string shown(const std::vector<std::string>& names) {
  if (names.size() == 1) return holdfast::quoted(names[0]);
  if (names.size() == 2)
    return fmt::format("{} and {}", holdfast::quoted(names[0]), holdfast::quoted(names[1]));
  return fmt::format("{}, {} and {} more", holdfast::quoted(names[0]), holdfast::quoted(names[1]),
                     names.size() - 2);
}

Lease wait_for_lease(const Client& client, const RunOptions& options, Signals& signals) {
  const auto outcome = std::make_shared<Outcome>();
  if (!outcome->event) complain_errno("eventfd", errno);
  std::stop_source stop;
  source(client, options)
      .start_acquire(deadline(options), stop.get_token(),
                     [outcome](std::exception_ptr error, std::optional<Lease> lease) {
                       outcome->error = std::move(error);
                       outcome->lease = std::move(lease);
                       ::eventfd_write(outcome->event.get(), 1);
                     });

  int interrupted_by = 0;
  bool told = options.quiet;
  for (bool ended = false; !ended;) {
    pollfd ready[] = {{outcome->event.get(), POLLIN, 0}, {signals.descriptor(), POLLIN, 0}};
    const int count = ::poll(ready, 2, told ? -1 : 1'000);
    if (count == 0) {
      told = true;
      say(fmt::format("waiting: {}", in_the_way(client, options)));
    }
    ended = count > 0 && ready[0].revents != 0;
    while (const auto signal = signals.next()) {
      const auto number = static_cast<int>(signal->ssi_signo);
      if (number == SIGTSTP) signals.stop_self();
      if (!ends_a_wait(number)) continue;
      interrupted_by = number;
      stop.request_stop();  // the wait ends soon, also when a grant raced it
    }
  }
  if (interrupted_by != 0)
    throw Interrupted{interrupted_by};  // a lease that came is released on the way
  if (outcome->error) std::rethrow_exception(outcome->error);
  if (!outcome->lease) complain_busy(client, options);
  return *std::move(outcome->lease);
}

}  // namespace holdfast::cli
