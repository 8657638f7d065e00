#include "base/fork.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <utility>

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

void keep_for_ever(std::shared_ptr<void> thing) {
  struct Kept {
    std::shared_ptr<void> thing;
    Kept* next;
  };
  static std::atomic<Kept*> first{nullptr};  // reachable, so that no leak is reported
  auto* kept = new Kept{std::move(thing), first.load()};
  while (!first.compare_exchange_weak(kept->next, kept)) {
  }
}

}  // namespace holdfast
