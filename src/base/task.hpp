#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace holdfast {

/// A move-only callable that keeps small ones in place. (std::function copies and
/// std::move_only_function is C++23.) Calling an empty one is undefined.
template <class Signature>
class UniqueFunction;

template <class R, class... Args>
class UniqueFunction<R(Args...)> {
 public:
  UniqueFunction() noexcept = default;
  UniqueFunction(std::nullptr_t) noexcept {}

  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, UniqueFunction> &&
             std::is_invocable_r_v<R, F&, Args...>)
  UniqueFunction(F&& callable) {
    using Stored = std::decay_t<F>;
    if constexpr (fits<Stored>) {
      ::new (static_cast<void*>(place_)) Stored(std::forward<F>(callable));
      actions_ = &in_place<Stored>;
    } else {
      ::new (static_cast<void*>(place_)) Stored*(new Stored(std::forward<F>(callable)));
      actions_ = &on_heap<Stored>;
    }
  }

  UniqueFunction(UniqueFunction&& other) noexcept { take(other); }
  UniqueFunction& operator=(UniqueFunction&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  ~UniqueFunction() { reset(); }

  explicit operator bool() const noexcept { return actions_ != nullptr; }
  R operator()(Args... args) { return actions_->call(place_, std::forward<Args>(args)...); }

 private:
  static constexpr std::size_t capacity = 6 * sizeof(void*);

  struct Actions {
    R (*call)(void*, Args&&...);
    void (*move)(void* from, void* to) noexcept;  // leaves nothing behind in `from`
    void (*destroy)(void*) noexcept;
  };

  template <class F>
  static constexpr bool fits = sizeof(F) <= capacity && alignof(F) <= alignof(std::max_align_t) &&
                               std::is_nothrow_move_constructible_v<F>;

  // The cast drops a result that a void signature does not want.
  template <class F>
  static constexpr Actions in_place{
      [](void* at, Args&&... args) -> R {
        return static_cast<R>((*static_cast<F*>(at))(std::forward<Args>(args)...));
      },
      [](void* from, void* to) noexcept {
        ::new (to) F(std::move(*static_cast<F*>(from)));
        static_cast<F*>(from)->~F();
      },
      [](void* at) noexcept { static_cast<F*>(at)->~F(); }};

  template <class F>
  static constexpr Actions on_heap{
      [](void* at, Args&&... args) -> R {
        return static_cast<R>((**static_cast<F**>(at))(std::forward<Args>(args)...));
      },
      [](void* from, void* to) noexcept { ::new (to) F*(*static_cast<F**>(from)); },
      [](void* at) noexcept { delete *static_cast<F**>(at); }};

  void take(UniqueFunction& other) noexcept {
    if (!other.actions_) return;
    other.actions_->move(other.place_, place_);
    actions_ = std::exchange(other.actions_, nullptr);
  }
  void reset() noexcept {
    if (actions_) std::exchange(actions_, nullptr)->destroy(place_);
  }

  alignas(std::max_align_t) unsigned char place_[capacity];
  const Actions* actions_ = nullptr;
};

using Task = UniqueFunction<void()>;

}  // namespace holdfast
