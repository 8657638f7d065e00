#include "base/fork.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdlib>

namespace holdfast {
namespace {

constinit std::atomic<std::uint32_t> generation{0};

// Priority 101: before any static object can fork, and without a guard that a fork could catch
// half done. A process that cannot register must not run: it would believe in its parent's leases.
[[gnu::constructor(101)]] void register_handler() noexcept {
  const auto in_child = +[]() noexcept { generation.fetch_add(1, std::memory_order_relaxed); };
  if (pthread_atfork(nullptr, nullptr, in_child) != 0) std::abort();
}

}  // namespace

std::uint32_t fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

}  // namespace holdfast
