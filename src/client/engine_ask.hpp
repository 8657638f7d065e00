#pragma once

#include <optional>

#include "client/engine.hpp"

namespace holdfast::client {

/// Asks the driver something and waits for the answer. `start` gets the handler, on the loop.
/// Cannot hang: closing the client answers what the driver has not.
template <class T, class Start>
Result<T> Engine::ask(Start start) {
  if (auto failure = unusable()) return *failure;
  Loop::Call call(loop_);
  std::optional<Result<T>> answer;
  Question question;
  question.abort = [&] {
    answer = Failure{errc::closed, "the client of " + store_ + " was closed"};
    call.done();
  };
  call.start([&] {
    if (!driver_) return question.abort();
    question.after = questions_;
    if (questions_) questions_->before = &question;
    questions_ = &question;
    start([&](Result<T> result) {
      (question.before ? question.before->after : questions_) = question.after;
      if (question.after) question.after->before = question.before;
      answer = std::move(result);
      call.done();
    });
  });
  call.wait();
  return std::move(*answer);
}

}  // namespace holdfast::client
