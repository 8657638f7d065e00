#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace holdfast {

/// What a store can promise, as data: `holdfast info` prints it and the documentation's store table
/// is generated from it. A request beyond it is refused, never silently weakened.
struct Capabilities {
  std::string store;    ///< the kind of store, "sqlite"
  std::string version;  ///< the store's own version, as far as known
  bool exclusive = false;
  bool shared = false;
  bool permits = false;
  bool several_names = false;  ///< several names in one step, all or nothing
  bool cells = false;

  enum class WakeUp { event, poll };
  WakeUp wake_up = WakeUp::poll;
  std::chrono::milliseconds wake_up_bound{0};  ///< a lost event costs a waiter at most this

  enum class Fairness { fifo, none };
  Fairness fairness = Fairness::none;

  std::string token_source;  ///< where tokens come from
  unsigned token_bits = 64;  ///< tokens stay below 2^bits

  std::string expiry_clock;  ///< whose clock decides expiry

  bool survives_client_crash = false;    ///< others get in after the TTL when a holder crashes
  bool survives_server_restart = false;  ///< leases and tokens are still there afterwards
  bool survives_failover = false;        ///< … and after a fail-over to a replica
  bool survives_partition = false;       ///< a minority never grants
  std::string exclusion;  ///< "one process", "single node, durable", "consensus", "best effort"

  std::chrono::milliseconds min_ttl{100};
  std::chrono::milliseconds max_ttl{std::chrono::hours{24}};
  std::size_t max_name_bytes = 512;
  std::chrono::milliseconds dead_waiter_bound{0};  ///< a waiter that died is skipped within this
};

}  // namespace holdfast
