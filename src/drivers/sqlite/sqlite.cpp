#include "drivers/sqlite/sqlite.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "driver/record/record_driver.hpp"
#include "drivers/sqlite/store.hpp"

namespace holdfast::sqlite {
namespace {

std::optional<Failure> check(const Url& url) {
  if (auto failure = url.check_options({"sync"})) return failure;
  const auto bad = [&](const std::string& words) {
    return Failure{errc::bad_url, url.redacted() + ": " + words};
  };
  if (!url.hosts().empty() || !url.user().empty() || !url.password().empty())
    return bad(
        "a lock file has no host; write sqlite:///absolute/path.db with three slashes, or "
        "sqlite:relative.db");
  const std::string& path = url.path();
  if (path.empty()) return bad("the path is missing; write sqlite:///absolute/path.db");
  if (path.find('\0') != std::string::npos) return bad("a path cannot have a zero byte");
  if (path.starts_with(":memory:"))
    return bad("a database in memory is nobody else's; write memory: for locks within one process");
  if (const auto sync = url.option("sync"); sync && *sync != "full" && *sync != "normal")
    return bad("sync=" + *sync + " is not known; write sync=full or sync=normal");
  return std::nullopt;
}

Capabilities capabilities() {
  Capabilities can;
  can.store = "sqlite";
  can.version = sqlite3_libversion();
  can.exclusive = can.shared = can.permits = can.several_names = can.cells = true;
  can.wake_up = Capabilities::WakeUp::event;
  can.wake_up_bound = std::chrono::seconds(2);
  can.fairness = Capabilities::Fairness::fifo;
  can.token_source = "counter of the resource, no lower than the time of day in microseconds";
  can.token_bits = 63;
  can.expiry_clock = "boot clock of the machine";
  can.survives_client_crash = true;
  can.survives_server_restart = true;
  can.exclusion = "single node, durable";
  // A process that ended is passed over at once; one that stands still, after its window and the
  // heartbeat of the next.
  can.dead_waiter_bound = std::chrono::seconds(8);
  return can;
}

std::string label() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return std::string(host.data()) + ":" + std::to_string(::getpid());
}

}  // namespace

Result<std::unique_ptr<driver::Driver>> open(const Url& url, driver::Host host) try {
  if (auto failure = check(url)) return *std::move(failure);
  Settings settings;
  settings.path = url.path();
  settings.sync = url.option("sync") == "normal" ? Sync::normal : Sync::full;
  settings.client = Id::random();
  Bells::mark_deaf(settings.client, false);
  settings.patience = host.request_timeout;
  settings.machine = Machine::here();

  // The store speaks to the driver, which is made after it, since only the store knows by then
  // whether this client can hear.
  struct Wires {
    driver::RecordDriver* driver = nullptr;
    decltype(driver::Host::log) log;
  };
  const auto wires = std::make_shared<Wires>();
  wires->log = std::move(host.log);
  host.log = [wires](LogLevel level, std::string_view event, std::string_view resource,
                     std::string_view words) {
    if (wires->log) wires->log(level, event, resource, words);
  };
  Store::Hooks hooks;
  hooks.watch = [&loop = host.loop](int descriptor, Task readable) -> std::shared_ptr<void> {
    return std::make_shared<Loop::Readable>(loop, descriptor, std::move(readable));
  };
  hooks.hinted = [wires](driver::Hint::Kind kind, const Id& subject) {
    if (wires->driver) wires->driver->hinted(kind, subject);
  };
  hooks.log = [wires](LogLevel level, std::string_view event, std::string_view words) {
    if (wires->log) wires->log(level, event, {}, words);
  };
  auto store = std::make_unique<Store>(std::move(settings), host.clock, std::move(hooks));
  driver::LockModel::Self self{store->client(), label()};
  auto driver = std::make_unique<driver::RecordDriver>(
      std::move(host), capabilities(), std::move(self), driver::RecordDriver::Batching::group);
  wires->driver = driver.get();
  driver->attach(std::move(store));
  return std::unique_ptr<driver::Driver>(std::move(driver));
} catch (const Error& error) {
  return Failure{static_cast<errc>(error.code().value()), error.words()};
}

}  // namespace holdfast::sqlite
