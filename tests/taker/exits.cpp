// fork, exec and the end of a program that still holds leases.

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "support/event.hpp"
#include "taker/taker.hpp"

namespace holdfast::test {
namespace {

// Destroyed in reverse order: one lease before the client, one after it.
Lease outlives_client;
std::optional<Client> global_client;
Lease dies_before_client;

}  // namespace

int at_exit(const char* url) {
  global_client.emplace(url);
  outlives_client = global_client->mutex("after").acquire();
  dies_before_client = global_client->mutex("before").acquire();
  // And a thread that waits for what it will never get.
  static Event waiting;
  std::thread([mutex = global_client->mutex("before")] {
    mutex.start_acquire(boot_clock::time_point::max(), {},
                        [](std::exception_ptr, std::optional<Lease>) {});
    waiting.set();
    std::error_code why;
    (void)mutex.try_acquire_for(std::chrono::hours(1), why);
    say("waiter", why.value());
  }).detach();
  (void)waiting.wait();
  say("leaving");
  return 0;
}

int hold_and_fork(const char* url) {
  LeaseOptions options;
  options.ttl = long_ttl;
  std::optional<Client> client(url);
  Lease lease = client->mutex("forked", options).acquire();
  say("granted", "forked", lease.token());
  const Mutex other = client->mutex("other");
  const pid_t child = ::fork();
  if (child == 0) {
    std::error_code why;
    const bool held = lease.ensure_held(why);
    say("child", to_string(lease.state()), to_string(lease.loss_reason()), held);
    const bool acquired = other.try_acquire(why).has_value();
    say("child-acquire", acquired, why.value());
    say("child-release", to_string(lease.release()));
    client.reset();
    Client anew(url);
    say("child-anew", anew.mutex("forked").try_acquire().has_value());
    return 0;
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  say("child-ended", WIFEXITED(status), WEXITSTATUS(status));
  lease.renew();
  say("parent", to_string(lease.state()));
  say("parent-release", to_string(lease.release()));
  return 0;
}

int hold_and_exec(const char* url) {
  Client client(url);
  const Lease lease = client.mutex("executed").acquire();
  say("granted", "executed", lease.token());
  ::execl("/proc/self/exe", "lock-taker", "--descriptors", nullptr);
  return 1;
}

int print_descriptors() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the one that the iterator itself uses
    const auto target = std::filesystem::read_symlink(entry, gone).string();
    if (std::stoi(entry.path().filename()) > 2 && target.find("/fd") == std::string::npos)
      say("inherited", entry.path().filename().string(), target);
  }
  say("listed");
  return 0;
}

}  // namespace holdfast::test
