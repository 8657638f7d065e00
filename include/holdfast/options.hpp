#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string_view>
#include <type_traits>

namespace holdfast {

/// When a lease's stop token fires.
enum class StopAt {
  loss,   ///< when the lease is lost (default)
  doubt,  ///< already when it becomes doubtful: for work that must not overlap even in belief
};

/// How a lease is to be held. Belongs to one lease, never to a shared object.
/// Views are read during the call that takes the options and not kept.
struct LeaseOptions {
  /// How long the store keeps the lease when nobody renews it. 100 ms to 24 h, and within what the
  /// store offers (Capabilities::min_ttl, max_ttl). Short: others get in sooner after a crash.
  /// Long: survives longer outages of the store.
  std::chrono::milliseconds ttl{30'000};

  /// Renew in the background each TTL/3. Off: the lease ends after one TTL unless renew() is
  /// called.
  bool auto_renew = true;

  /// Hard cap on the whole hold, after which the lease is lost with LossReason::hold_limit.
  /// Zero (default): none.
  std::chrono::milliseconds max_hold{0};

  StopAt stop_at = StopAt::loss;

  /// Who asks, up to 128 bytes of printable UTF-8. Empty (default): a fresh random owner per lease.
  std::string_view owner{};

  /// Let an owner that already holds the resource through this client take it again: holds are
  /// counted in the client, the token stays the same. Needs an explicit owner. Default: off.
  bool reentrant = false;

  /// Free text for operators, shown by `holdfast inspect`; up to 256 bytes. Never put a secret
  /// here.
  std::string_view note{};
};
static_assert(std::is_trivially_destructible_v<LeaseOptions>,
              "g++ 12 destroys non-trivial aggregates twice in co_await expressions");

enum class LogLevel { debug, info, warning, error };

/// One log line with structure. Views are valid during the call only.
struct LogEntry {
  LogLevel level;
  std::string_view event;     ///< what happened, a fixed word such as "lease_lost"
  std::string_view store;     ///< the store's URL without secrets
  std::string_view resource;  ///< the resource's name, or empty
  std::string_view words;     ///< for people
};

/// How a client behaves. Has a constructor so that g++ 12 handles it well in coroutines.
struct ClientOptions {
  ClientOptions() noexcept {}

  /// Receives log entries; called from Holdfast's own threads and from callers' threads, so it must
  /// be thread-safe, quick and must not throw nor call back into Holdfast. Default: none, silence.
  std::function<void(const LogEntry&)> log;

  /// How long a store may take for one request before it counts as out of reach. 10 ms to 1 min.
  std::chrono::milliseconds request_timeout{5'000};

  /// Upper bound on the number of times that a lease passes from thread to thread inside this
  /// client while others wait at the store, before it goes back to the store. 0: never pass
  /// locally.
  unsigned local_passes = 64;

  /// Upper bound on the time that such passing may take while others wait at the store.
  std::chrono::microseconds local_pass_time{2'000};
};

}  // namespace holdfast
