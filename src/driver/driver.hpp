#pragma once

/// The waist: what makes one kind of store speak Holdfast. This is the porter's page.
///
/// A driver is a folder under src/drivers/ with a class derived from Driver and a factory that the
/// registry (registry.hpp) knows by URL scheme. The rules that its store must keep are those of
/// docs/architecture.md; the contract suite (tests/contract) checks each of them.
///
/// Who calls what: every member function is called on the client's loop, and every handler must be
/// called on the loop, exactly once, at once or later, also with a failure. After the destructor
/// has begun no handler may be called. A driver never blocks the loop on a network; one over a
/// blocking client library runs it on threads of its own and posts results back. (SQLite works on
/// the loop itself: its calls are short file operations, and the deadline of a lease is watched by
/// a thread that waits behind nothing.) A network driver may write its protocol as Asio coroutines
/// over Loop::context(); the waist itself takes handlers, so that a store that answers at once
/// costs no coroutine frame, and only files that need Asio pay for compiling it.
///
/// Who owns what: a Request is shared and immutable; driver and client keep it as long as they
/// like. The driver owns its connections, its session and its waiting entries in the store. The
/// client owns deadlines, retries of renewals, states, tokens spent in local passes. A driver never
/// retries past a deadline, and never resends anything that is not idempotent by the request's id.
///
/// What may be left out: modes, several names and cells that the capabilities deny; the client
/// refuses such requests at the door. Events `wanted` and `doubtful` are hints.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/capabilities.hpp>
#include <holdfast/cell.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>
#include <holdfast/resource.hpp>

#include "base/clock.hpp"
#include "base/id.hpp"
#include "base/loop.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "base/url.hpp"

namespace holdfast::driver {

template <class T>
using Handler = UniqueFunction<void(Result<T>)>;

/// The names of a request: immutable, and shared with the recipe that they come from, since an
/// acquire should not copy them. Reads like a vector.
class SharedNames {
 public:
  SharedNames() noexcept = default;
  SharedNames(std::vector<std::string> names)
      : list_(std::make_shared<const std::vector<std::string>>(std::move(names))) {}
  SharedNames(std::initializer_list<std::string> names)
      : SharedNames(std::vector<std::string>(names)) {}
  explicit SharedNames(std::shared_ptr<const std::vector<std::string>> names) noexcept
      : list_(std::move(names)) {}

  operator const std::vector<std::string>&() const noexcept { return list(); }
  [[nodiscard]] auto begin() const noexcept { return list().begin(); }
  [[nodiscard]] auto end() const noexcept { return list().end(); }
  [[nodiscard]] std::size_t size() const noexcept { return list().size(); }
  [[nodiscard]] bool empty() const noexcept { return list().empty(); }
  [[nodiscard]] const std::string& front() const noexcept { return list().front(); }
  [[nodiscard]] const std::string& operator[](std::size_t i) const noexcept { return list()[i]; }

 private:
  [[nodiscard]] const std::vector<std::string>& list() const noexcept {
    static const std::vector<std::string> none;
    return list_ ? *list_ : none;
  }
  std::shared_ptr<const std::vector<std::string>> list_;
};

/// One acquire, and the identity of the lease that it may become.
struct Request {
  Id id;              ///< idempotency: the same id always gets the first answer
  SharedNames names;  ///< sorted, unique, valid; all or nothing
  Mode mode;
  std::string owner;  ///< empty: the id in hexadecimal is the owner
  std::string note;
  Duration ttl{};
  Instant deadline{};  ///< of the wait; Instant::min(): one try; Instant::max(): for ever
  std::uint32_t token_block =
      1;  ///< how many tokens to reserve: the first for the grant, the rest for local passes
};
using RequestPtr = std::shared_ptr<const Request>;

/// The tokens of a grant, one for each name. Reads like a vector; one needs no memory of its own.
class Tokens {
 public:
  using value_type = std::uint64_t;
  using const_iterator = const std::uint64_t*;
  using iterator = const_iterator;

  void reserve(std::size_t count) {
    if (count > 1) all_.reserve(count);
  }
  void push_back(std::uint64_t token) {
    if (++size_ == 1) {
      one_ = token;
      return;
    }
    if (size_ == 2) all_.push_back(one_);
    all_.push_back(token);
  }
  [[nodiscard]] const_iterator begin() const noexcept { return size_ > 1 ? all_.data() : &one_; }
  [[nodiscard]] const_iterator end() const noexcept { return begin() + size_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t front() const noexcept { return *begin(); }
  [[nodiscard]] std::uint64_t operator[](std::size_t i) const noexcept { return begin()[i]; }
  bool operator==(const Tokens&) const = default;

 private:
  std::size_t size_ = 0;
  std::uint64_t one_ = 0;
  std::vector<std::uint64_t> all_;  // if more than one
};

struct Grant {
  Tokens tokens;                  ///< first token of the block, one for each name
  std::uint32_t token_block = 1;  ///< how many tokens from there on are ours
  Instant basis{};  ///< validity counts from here: just before the request (or, after a
                    ///< wait, the last acknowledged heartbeat) was sent
  Duration ttl{};   ///< as granted by the store, from `basis`
  Predecessor predecessor = Predecessor::none;
  bool contended = false;  ///< others wait at the store
};

/// What became of one lease in a batch of renewals.
struct Renewal {
  enum class Outcome { renewed, gone, failed };
  Outcome outcome = Outcome::failed;
  Instant basis{};  ///< renewed: as in Grant
  Duration ttl{};
  bool contended = false;
  LossReason reason = LossReason::none;  ///< gone: why, as far as the store knows
};

enum class Released { released, already_lost };

/// Something that the store told us without being asked.
struct Event {
  enum class Kind {
    lost,      ///< the lease is gone, for `reason`
    wanted,    ///< another client waits for the resource that this lease holds
    doubtful,  ///< the store is out of reach: concerns all leases
  };
  Kind kind;
  Id lease;  ///< lost, wanted
  LossReason reason = LossReason::none;
};

/// What a driver gets to live with. All of it outlives the driver.
struct Host {
  Loop& loop;
  const Clock& clock;
  UniqueFunction<void(const Event&)> event;  ///< call on the loop
  UniqueFunction<void(LogLevel, std::string_view event, std::string_view resource,
                      std::string_view words)>
      log;
  std::chrono::milliseconds request_timeout;
};

class Driver {
 public:
  virtual ~Driver() = default;

  [[nodiscard]] virtual const Capabilities& capabilities() const noexcept = 0;

  /// Waits in the store until granted or until request->deadline. Failures: timeout (also: busy, no
  /// wait allowed), canceled (after cancel()), unknown (it may have been granted: the client will
  /// release it by id), and the rest of errc. A request by an owner that holds the same names
  /// exclusively under the same id but asks for shared mode is a downgrade: granted at once, same
  /// token.
  virtual void acquire(RequestPtr request, Handler<Grant> handler) = 0;

  /// Ends a wait. Its handler is then called with canceled, or with the grant that raced it. Does
  /// nothing if the request is not waiting.
  virtual void cancel(const RequestPtr& request) = 0;

  /// Renews a batch; one outcome for each, in order. Never re-creates what is gone.
  virtual void renew(std::vector<RequestPtr> leases, Handler<std::vector<Renewal>> handler) = 0;

  /// Idempotent by id; frees only what this id holds, and removes its queue entry if it still
  /// waits. Where waiters exist, the same step makes the next one the holder (hand-over) and wakes
  /// it.
  virtual void release(RequestPtr lease, Handler<Released> handler) = 0;

  virtual void inspect(std::string name, Handler<ResourceInfo> handler) = 0;
  virtual void list(std::string prefix, std::size_t limit,
                    Handler<std::vector<ResourceInfo>> handler) = 0;
  /// Removes all holders, whose clients are told, and raises the token; returns how many they were.
  virtual void revoke(std::string name, Handler<std::size_t> handler) = 0;

  virtual void read(std::string cell, Handler<CellValue> handler) = 0;
  /// errc::conflict if the version is not `expected`; returns the new version.
  virtual void write(std::string cell, std::string value, std::uint64_t expected,
                     Handler<std::uint64_t> handler) = 0;
  /// Calls back with the newest value once its version is above `since`, or with errc::timeout.
  virtual void watch(std::string cell, std::uint64_t since, Instant deadline,
                     Handler<CellValue> handler) = 0;
};

}  // namespace holdfast::driver
