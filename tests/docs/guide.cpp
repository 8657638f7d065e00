// The examples of docs/guide.md, but for those that need Asio (async.cpp).

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "check.hpp"

using namespace std::chrono_literals;

namespace {

std::uint64_t charged_with = 0;
int charges = 0;
void charge_card(std::uint64_t token) {
  check(token > charged_with);
  charged_with = token;
  ++charges;
}

void first_lock() {
  // [first]
  holdfast::Client client("sqlite:guide-locks.db");
  auto mutex = client.mutex("order:payment:123456");
  {
    holdfast::Lease lease = mutex.acquire();  // waits until it is ours
    charge_card(lease.token());
  }  // released here
  // [/first]
  check(charges == 1);
  check(client.inspect("order:payment:123456").waiters.empty());

  // [with_lease]
  const std::string receipt = holdfast::with_lease(mutex, [](holdfast::Held held) {
    charge_card(held.token());
    return "receipt " + std::to_string(held.token());
  });
  // [/with_lease]
  check(charges == 2 && receipt == "receipt " + std::to_string(charged_with));
}

void waiting() {
  holdfast::Client client("memory:guide-waiting");
  holdfast::Client others("memory:guide-waiting");
  auto mutex = client.mutex("job");
  // [waiting]
  auto now_or_never = mutex.try_acquire();            // one try
  auto soon = mutex.try_acquire_for(50ms);            // at most so long
  auto by = std::chrono::system_clock::now() + 50ms;  // of any clock
  auto in_time = mutex.try_acquire_until(by);
  // [/waiting]
  check(now_or_never && !soon && !in_time);
  now_or_never->release();

  auto busy = others.mutex("job").acquire();
  // [stop]
  std::stop_source shutdown;
  std::thread signal([&] {
    std::this_thread::sleep_for(20ms);
    shutdown.request_stop();
  });
  try {
    auto lease = mutex.acquire(shutdown.get_token());
  } catch (const holdfast::Error& error) {
    check(error.code() == holdfast::errc::canceled);
  }
  // [/stop]
  signal.join();
  check(client.inspect("job").waiters.empty());

  // [error_code]
  std::error_code error;
  auto lease = mutex.try_acquire_for(50ms, error);
  if (!lease && error == holdfast::errc::timeout) std::cout << "others are at it\n";
  // [/error_code]
  check(!lease && error == holdfast::errc::timeout);

  check(error_of([] { return holdfast::Client("sqlite://host/locks.db"); }) ==
        holdfast::errc::bad_url);
  check(error_of([&] { return client.mutex("line\nbreak"); }) == holdfast::errc::bad_name);
}

void options() {
  holdfast::Client client("memory:guide-options");
  // [options]
  holdfast::LeaseOptions how{.ttl = 10s, .max_hold = 5min, .note = "ticket 4711"};
  how.owner = "importer@eu-1";
  auto mutex = client.mutex("import:customers", how);
  // [/options]
  auto lease = mutex.acquire();
  const auto info = client.inspect("import:customers");
  check(info.holders.size() == 1 && info.holders[0].owner == "importer@eu-1" &&
        info.holders[0].note == "ticket 4711" && lease.owner() == "importer@eu-1");
}

std::atomic<int> rows_copied = 0;
/// Work that watches a stop token, like most work that can be interrupted.
void copy_rows(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    ++rows_copied;
    std::this_thread::sleep_for(1ms);
  }
}

void loss() {
  holdfast::Client client("memory:guide-loss");
  holdfast::Client operators("memory:guide-loss");
  auto mutex = client.mutex("import:customers");
  std::thread revoker([&] {
    while (rows_copied < 5) std::this_thread::sleep_for(1ms);
    check(operators.revoke("import:customers") == 1);
  });
  // [loss]
  auto lease = mutex.acquire();
  copy_rows(lease.stop_token());  // returns when it is done, or when the lease is lost
  if (lease.release() == holdfast::ReleaseOutcome::already_lost)
    std::cout << "lost: " << to_string(lease.loss_reason()) << '\n';
  // [/loss]
  revoker.join();
  check(lease.loss_reason() == holdfast::LossReason::revoked);

  auto next = mutex.acquire();
  check(next.predecessor() == holdfast::Predecessor::revoked && next.token() > lease.token());
  std::ostringstream notes;
  // [signals]
  next.on_jeopardy([] { std::clog << "a renewal is overdue: start nothing new\n"; });
  next.on_loss([&](holdfast::LossReason why) { notes << "lost: " << to_string(why); });
  next.ensure_held();  // throws errc::lost when it is over
  // [/signals]
  operators.revoke("import:customers");
  while (next.state() != holdfast::LeaseState::lost) std::this_thread::sleep_for(1ms);
  check(error_of([&] { return next.ensure_held(), 0; }) == holdfast::errc::lost);

  // [predecessor]
  auto third = mutex.acquire();
  if (third.predecessor() == holdfast::Predecessor::expired ||
      third.predecessor() == holdfast::Predecessor::revoked)
    std::cout << "the one before us did not finish: check the data first\n";
  // [/predecessor]
  check(third.predecessor() == holdfast::Predecessor::revoked);
}

void deadline() {
  holdfast::Client client("memory:guide-deadline");
  const auto sent = holdfast::boot_clock::now();
  // [no_renewal]
  auto mutex = client.mutex("pulse", {.ttl = 200ms, .auto_renew = false});
  auto lease = mutex.acquire();
  std::this_thread::sleep_for(200ms);  // nobody renews it
  std::cout << to_string(lease.state()) << ": " << to_string(lease.loss_reason()) << '\n';
  // [/no_renewal]
  check(lease.state() == holdfast::LeaseState::lost &&
        lease.loss_reason() == holdfast::LossReason::expired);
  check(lease.valid_until() > sent && lease.valid_until() < sent + 200ms);
}

void modes() {
  holdfast::Client client("memory:guide-modes");
  // [shared]
  auto catalogue = client.shared_mutex("catalogue");
  auto reader = catalogue.shared().acquire();
  auto another = catalogue.shared().try_acquire();  // readers do not exclude each other
  auto writer = catalogue.try_acquire();            // a writer excludes everybody
  // [/shared]
  check(another && !writer);
  reader.release();
  another->release();
  // [downgrade]
  auto lease = catalogue.acquire();  // write …
  lease.downgrade();                 // … and go on reading what was written
  // [/downgrade]
  check(catalogue.shared().try_acquire().has_value());
  lease.release();

  // [semaphore]
  auto downloads = client.semaphore("downloads", 3);
  auto a = downloads.acquire();
  auto b = downloads.acquire();
  auto c = downloads.acquire();
  auto d = downloads.try_acquire();  // empty: all three permits are taken
  // [/semaphore]
  check(!d);
  check(error_of([&] { return client.semaphore("downloads", 5).try_acquire(); }) ==
        holdfast::errc::misconfigured);

  // [several]
  auto transfer = client.mutex({"account:17", "account:42"});
  auto both = transfer.acquire();  // all or nothing, and no deadlock
  std::cout << both.token("account:17") << ' ' << both.token("account:42") << '\n';
  // [/several]
  check(!client.mutex("account:42").try_acquire());
  check(both.token("account:17") > 0 && both.token("account:99") == 0);
}

void reentry() {
  holdfast::Client client("memory:guide-reentry");
  // [reentrant]
  auto mutex = client.mutex("order:17", {.owner = "request-8a61", .reentrant = true});
  auto outer = mutex.acquire();
  auto inner = mutex.acquire();  // the same owner: counted, not waited for
  // [/reentrant]
  check(inner.token() == outer.token());
  inner.release();
  check(outer.state() == holdfast::LeaseState::held);

  std::atomic<bool> stop_work = false;
  // [lockable]
  holdfast::Lockable lockable(client.mutex("order:18"),
                              [&](holdfast::LossReason) { stop_work = true; });
  {
    std::scoped_lock lock(lockable);
    std::cout << "token " << lockable.lease().token() << '\n';
  }
  // [/lockable]
  check(!stop_work && client.mutex("order:18").try_acquire().has_value());
}

void cells() {
  holdfast::Client client("memory:guide-cells");
  // [cell]
  auto cell = client.cell("config:rate-limit");
  auto seen = cell.read();                           // version 0: never written
  auto version = cell.write("100/s", seen.version);  // errc::conflict if somebody was faster
  auto newer = cell.watch(version, 50ms);            // empty: nothing new in that time
  // [/cell]
  check(version > 0 && !newer && cell.read().value == "100/s");
  check(error_of([&] { return cell.write("200/s", seen.version); }) == holdfast::errc::conflict);
}

void watching() {
  std::ostringstream log;
  std::mutex log_mutex;
  // [log]
  holdfast::ClientOptions options;
  options.log = [&](const holdfast::LogEntry& entry) {
    std::lock_guard lock(log_mutex);  // any thread may log
    log << entry.event << ' ' << entry.resource << ": " << entry.words << '\n';
  };
  holdfast::Client client("memory:guide-log", options);
  // [/log]
  auto mutex = client.mutex("job");
  auto lease = mutex.acquire();
  check(!mutex.try_acquire());
  // [metrics]
  const holdfast::Metrics metrics = client.metrics();
  std::cout << metrics.acquired << " acquired, " << metrics.timed_out << " timed out, "
            << metrics.held << " held now, wait p99 " << metrics.wait.quantile(0.99).count()
            << " us\n";
  // [/metrics]
  check(metrics.acquired == 1 && metrics.timed_out == 1 && metrics.held == 1);
  client.revoke("job");
  while (lease.state() != holdfast::LeaseState::lost) std::this_thread::sleep_for(1ms);
  const auto lost_count = [&] {
    return client.metrics().lost[static_cast<std::size_t>(holdfast::LossReason::revoked)];
  };
  check(lost_count() == 1);
  const auto logged = [&] {
    std::lock_guard lock(log_mutex);
    return log.str().find("lease_lost job") != std::string::npos;
  };
  for (int i = 0; i < 1000 && !logged(); ++i) std::this_thread::sleep_for(1ms);
  check(logged());
}

void operators() {
  holdfast::Client client("memory:guide-operators");
  auto held = client.mutex("stock:item:7", {.note = "night shift"}).acquire();
  // [operators]
  for (const auto& resource : client.list("stock:"))
    for (const auto& holder : resource.holders)
      std::cout << resource.name << " is held by " << holder.client << " (" << holder.note << ")\n";
  client.revoke("stock:item:7");  // takes it away; the holder is told
  // [/operators]
  check(client.inspect("stock:item:7").holders.empty());
}

}  // namespace

int main() {
  for (const char* end : {"", "-wal", "-shm"})
    std::filesystem::remove(std::string("guide-locks.db") + end);
  first_lock();
  waiting();
  options();
  loss();
  deadline();
  modes();
  reentry();
  cells();
  watching();
  operators();
}
