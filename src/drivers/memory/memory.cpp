#include "drivers/memory/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include <holdfast/version.hpp>

#include "base/name.hpp"
#include "driver/record/record_driver.hpp"

namespace holdfast::memory {
namespace {

using driver::CellRecord;
using driver::Hint;
using driver::LockModel;
using driver::Record;
using driver::RecordDriver;
using driver::RecordStore;

struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>()(text);
  }
};
template <class T>
using Table = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

/// Whom a client's hints reach. Gone with its driver, so that one that is late finds nobody.
struct Bell {
  Loop& loop;
  RecordDriver& driver;
};

/// What all clients of one name share.
struct Space {
  std::mutex mutex;
  Table<Record> records;
  Table<CellRecord> cells;
  std::uint64_t ticket = 0;
  std::uint64_t token_floor = 0;  ///< no lower than the token of any record that was dropped
  std::size_t sweep_at = 4096;
  std::uint64_t sweeps = 0;  ///< records found before the last one may be gone
  std::unordered_map<Id, std::shared_ptr<Bell>> bells;

  /// Bounds what is kept of resources that nobody uses; the floor keeps their tokens rising.
  void sweep() {
    ++sweeps;
    std::erase_if(records, [this](const auto& entry) {
      if (!entry.second.idle()) return false;
      token_floor = std::max(token_floor, entry.second.token);
      return true;
    });
    sweep_at = std::max<std::size_t>(4096, 2 * records.size());
  }
};

/// The space of a name, made when it is not there. Never destroyed, so that a client may end after
/// main() has.
std::shared_ptr<Space> space_of(const std::string& name) {
  static std::mutex mutex;
  static auto& spaces = *new std::map<std::string, std::weak_ptr<Space>>();
  std::lock_guard lock(mutex);
  std::erase_if(spaces, [](const auto& entry) { return entry.second.expired(); });
  auto& known = spaces[name];
  auto space = known.lock();
  if (!space) known = space = std::make_shared<Space>();
  return space;
}

/// The mutex is held from begin() to commit() or rollback(). There is nothing to undo: the model
/// fails before it changes anything, and nothing here fails.
class Store final : public RecordStore {
 public:
  Store(std::shared_ptr<Space> space, const Id& client, Loop& loop, RecordDriver& driver)
      : space_(std::move(space)), client_(client), lock_(space_->mutex) {
    space_->bells.emplace(client_, std::make_shared<Bell>(loop, driver));
    lock_.unlock();
  }
  ~Store() override {
    lock_.lock();
    space_->bells.erase(client_);
    lock_.unlock();
  }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  Result<Begun> begin(Access) override {
    lock_.lock();
    if (sweeps_ != space_->sweeps) last_ = nullptr;
    sweeps_ = space_->sweeps;
    return Begun::yes;
  }
  Committed commit(Failure&) override {
    rollback();
    return Committed::yes;
  }
  void rollback() noexcept override {
    if (space_->records.size() >= space_->sweep_at) space_->sweep();
    lock_.unlock();
  }

  Record& record(std::string_view name) override {
    // The same as last time, more often than not.
    if (!last_ || last_->first != name) last_ = &entry(space_->records, name);
    return last_->second;
  }
  void changed(std::string_view) override {}
  CellRecord& cell(std::string_view name) override { return entry(space_->cells, name).second; }
  void cell_changed(std::string_view) override {}

  std::vector<std::string> names(std::string_view prefix, std::size_t limit) override {
    std::vector<std::string> names;
    for (const auto& [name, record] : space_->records)
      if (!record.idle() && std::string_view(name).starts_with(prefix)) names.push_back(name);
    std::sort(names.begin(), names.end());
    if (names.size() > limit) names.resize(limit);
    return names;
  }

  std::uint64_t next_ticket() override { return ++space_->ticket; }
  std::uint64_t token_floor() override { return space_->token_floor; }

  void ring(const Hint& hint) noexcept override {
    std::lock_guard lock(space_->mutex);  // its loop cannot go while we post to it
    const auto found = space_->bells.find(hint.client);
    if (found == space_->bells.end()) return;
    found->second->loop.post(
        [bell = std::weak_ptr(found->second), kind = hint.kind, subject = hint.subject] {
          if (const auto there = bell.lock()) there->driver.hinted(kind, subject);
        });
  }
  bool alive(const Id& client) noexcept override { return space_->bells.contains(client); }

 private:
  template <class T>
  static typename Table<T>::value_type& entry(Table<T>& table, std::string_view name) {
    const auto found = table.find(name);
    return found != table.end() ? *found : *table.try_emplace(std::string(name)).first;
  }

  std::shared_ptr<Space> space_;
  Id client_;
  std::unique_lock<std::mutex> lock_;
  Table<Record>::value_type* last_ = nullptr;  ///< what was looked up last …
  std::uint64_t sweeps_ = 0;                   ///< … when there had been so many sweeps
};

Capabilities capabilities() {
  using std::chrono::milliseconds;
  Capabilities can;
  can.store = "memory";
  can.version = version;
  can.exclusive = can.shared = can.permits = can.several_names = can.cells = true;
  can.wake_up = Capabilities::WakeUp::event;
  can.wake_up_bound = milliseconds(2'000);  // the heartbeat of a waiter
  can.fairness = Capabilities::Fairness::fifo;
  can.token_source = "counter of the resource, no lower than the time of day in microseconds";
  can.token_bits = 63;
  can.expiry_clock = "this machine, CLOCK_BOOTTIME";
  can.exclusion = "one process";
  can.dead_waiter_bound = milliseconds(8'000);  // its window, and the heartbeat of the next
  return can;
}

/// There is but one process; and so short a text is kept in place.
std::string label() { return "self:" + std::to_string(getpid()); }

}  // namespace

Result<std::unique_ptr<driver::Driver>> open(const Url& url, driver::Host host) {
  if (auto failure = url.check_options({})) return *std::move(failure);
  if (!url.hosts().empty() || !url.user().empty())
    return Failure{errc::bad_url,
                   "a memory store is in this process and has no host, but the URL " +
                       quoted(url.redacted()) + " names one; use memory: or memory:NAME"};
  Loop& loop = host.loop;
  LockModel::Self self{Id::random(), label()};
  const Id client = self.client;
  auto made = std::make_unique<RecordDriver>(std::move(host), capabilities(), std::move(self),
                                             RecordDriver::Batching::none);
  made->attach(std::make_unique<Store>(space_of(url.path()), client, loop, *made));
  return std::unique_ptr<driver::Driver>(std::move(made));
}

}  // namespace holdfast::memory
