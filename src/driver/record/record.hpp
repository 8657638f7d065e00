#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <holdfast/resource.hpp>

#include "base/clock.hpp"
#include "base/id.hpp"

namespace holdfast::driver {

/// One holder in a resource's record.
struct Holder {
  Id lease;   ///< Request::id: the only key for renewal and release
  Id client;  ///< whose bell to ring
  std::string owner;
  std::string label;  ///< "host:pid" of the client
  std::string note;
  Mode mode;
  std::uint64_t token = 0;  ///< first of its block
  std::uint32_t token_block = 1;
  std::chrono::system_clock::time_point since;
  Instant expires;  ///< on the store's clock
  Duration ttl{};
  Predecessor predecessor = Predecessor::none;

  bool operator==(const Holder&) const = default;
};

/// One queued request. It keeps its place while its heartbeat is late, but is passed over.
struct Waiter {
  Id lease;
  Id client;
  std::string owner;
  std::string label;
  std::string note;
  Mode mode;
  Duration ttl{};
  std::uint32_t token_block = 1;
  std::uint64_t ticket = 0;        ///< order of arrival at the store, over all resources
  Instant alive_until;             ///< its last heartbeat plus its window
  std::vector<std::string> names;  ///< all names of a request for several; empty for one

  bool operator==(const Waiter&) const = default;
};

/// All that a store keeps of one resource. It outlives its holders, as the source of tokens.
struct Record {
  std::uint64_t token = 0;  ///< the highest token given away
  std::vector<Holder> holders;
  std::vector<Waiter> waiters;            ///< by ticket
  Id last;                                ///< the lease that ended last …
  Predecessor ended = Predecessor::none;  ///< … and how

  [[nodiscard]] bool idle() const noexcept { return holders.empty() && waiters.empty(); }
  bool operator==(const Record&) const = default;
};

/// A cell with those who wait for its next version.
struct CellRecord {
  struct Watcher {
    Id watch;
    Id client;
    Instant alive_until;

    bool operator==(const Watcher&) const = default;
  };
  std::string value;
  std::uint64_t version = 0;
  std::vector<Watcher> watchers;

  bool operator==(const CellRecord&) const = default;
};

/// A hint for one client about one of its leases or watches. Hints may get lost, come twice or come
/// late: who gets one looks at the store before it believes anything.
struct Hint {
  enum class Kind : std::uint8_t { granted, lost, wanted, written };
  Id client;
  Kind kind;
  Id subject;  ///< the lease, or the watch

  bool operator==(const Hint&) const = default;
};

}  // namespace holdfast::driver
