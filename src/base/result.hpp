#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <holdfast/error.hpp>

namespace holdfast {

/// Why something failed, as a value: a code and words for people.
struct Failure {
  errc code;
  std::string words;

  [[noreturn]] void raise() const { throw Error(code, words); }
};

/// A value or a Failure. (std::expected is C++23 and libstdc++ 12 lacks it in C++20 mode.)
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  [[nodiscard]] const Failure& failure() const { return std::get<1>(state_); }

  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }

  /// The value, or the failure as an exception.
  T take() && {
    if (!ok()) failure().raise();
    return std::get<0>(std::move(state_));
  }

 private:
  std::variant<T, Failure> state_;
};

/// Success without a value.
struct Done {};

}  // namespace holdfast
