#pragma once

#include <optional>

#include "client/engine.hpp"

namespace holdfast::client {

/// Asks the driver something and waits for the answer. `start` gets the handler, on the loop.
/// Cannot hang: closing the client answers what the driver has not.
template <class T, class Start>
Result<T> Engine::ask(Start start) {
  if (auto failure = unusable()) return *failure;
  const auto closed = [this] {
    return Failure{errc::closed, "the client of " + store_ + " was closed"};
  };
  Loop::Call call(loop_);
  std::optional<Result<T>> answer;
  Question question;
  question.abort = [&] {
    answer = closed();
    call.done();
  };
  {
    std::lock_guard lock(mutex_);
    if (closed_) return closed();
    question.after = questions_;
    if (questions_) questions_->before = &question;
    questions_ = &question;
  }
  call.start([&] {
    if (!driver_) return question.abort();
    question.asked = true;
    start([&](Result<T> result) {
      answer = std::move(result);
      call.done();
    });
  });
  call.wait();
  std::lock_guard lock(mutex_);
  (question.before ? question.before->after : questions_) = question.after;
  if (question.after) question.after->before = question.before;
  return std::move(*answer);
}

}  // namespace holdfast::client
