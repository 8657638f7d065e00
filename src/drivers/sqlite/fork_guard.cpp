#include "drivers/sqlite/fork_guard.hpp"

#include <pthread.h>

#include <new>

#include "base/fork.hpp"

namespace holdfast::sqlite {
namespace {

/// Neither is ever destroyed, for a thread may fork, or close a client, while the process exits.
constinit std::mutex registry;
constinit ForkGuarded* first = nullptr;

}  // namespace

struct ForkHandlers {
  static void prepare() {
    registry.lock();
    for (auto* each = first; each; each = each->next_) each->working.lock();
  }
  static void parent() {
    for (auto* each = first; each; each = each->next_) each->working.unlock();
    registry.unlock();
  }
  static void child() {
    for (auto* each = first; each; each = each->next_) {
      each->working.unlock();
      each->quit_in_child();
    }
    registry.unlock();
  }
  static void install() {
    static const bool done = pthread_atfork(&prepare, &parent, &child) == 0;
    if (!done) throw std::bad_alloc();
  }

  static void enter(ForkGuarded& one) noexcept {
    one.next_ = first;
    if (first) first->previous_ = &one;
    first = &one;
  }
  static void leave(ForkGuarded& one) noexcept {
    if (one.previous_) one.previous_->next_ = one.next_;
    if (one.next_) one.next_->previous_ = one.previous_;
    if (first == &one) first = one.next_;
    one.next_ = one.previous_ = nullptr;
  }
  static void discard_inherited() noexcept {
    for (auto* each = first; each;) {
      auto* const next = each->next_;
      if (each->inherited()) {
        leave(*each);
        each->discard();
      }
      each = next;
    }
  }
};

ForkGuarded::ForkGuarded() : born_(fork_generation()) {
  ForkHandlers::install();
  const std::lock_guard lock(registry);
  ForkHandlers::enter(*this);
}

bool ForkGuarded::inherited() const noexcept { return born_ != fork_generation(); }

std::unique_lock<std::mutex> ForkGuarded::leave() {
  std::unique_lock lock(registry);
  ForkHandlers::leave(*this);
  return lock;
}

void ForkGuarded::discard_inherited() {
  const std::lock_guard lock(registry);
  ForkHandlers::discard_inherited();
}

}  // namespace holdfast::sqlite
