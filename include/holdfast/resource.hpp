#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast {

/// How the tenure before ours ended. After `expired` or `revoked` the protected data may be half
/// written.
enum class Predecessor { none, released, expired, revoked };

/// The way a resource is held or asked for.
enum class ModeKind { exclusive, shared, permits };

struct Mode {
  ModeKind kind = ModeKind::exclusive;
  std::uint32_t count = 1;  ///< permits taken (ModeKind::permits)
  std::uint32_t limit = 1;  ///< permits in all (ModeKind::permits)

  bool operator==(const Mode&) const = default;
};

/// One holder of a resource, as the store sees it.
struct HolderInfo {
  std::string owner;
  std::string client;  ///< "host:pid", as far as the store knows
  std::uint64_t token = 0;
  Mode mode;
  std::chrono::system_clock::time_point since;  ///< wall clock, for people
  std::chrono::milliseconds expires_in{0};      ///< on the store's clock, unless renewed
  std::string note;
};

/// One waiter, in order of arrival.
struct WaiterInfo {
  std::string owner;
  std::string client;
  Mode mode;
  std::string note;
  bool alive = true;  ///< it has proved that it lives within its heartbeat window
};

/// What a store knows of a resource.
struct ResourceInfo {
  std::string name;
  std::uint64_t token = 0;  ///< the highest token ever granted, 0 if never
  std::vector<HolderInfo> holders;
  std::vector<WaiterInfo> waiters;
};

}  // namespace holdfast
