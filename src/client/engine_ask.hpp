#pragma once

#include <optional>

#include "client/engine.hpp"

namespace holdfast::client {

/// Asks the driver something and waits for the answer. `what` and `name` are for the words of a
/// failure. `start` gets the handler, on the loop.
/// Cannot hang: closing the client answers what the driver has not.
template <class T, class Start>
Result<T> Engine::ask(std::string_view what, std::string_view name, Start start) {
  if (auto failure = unusable()) return *failure;
  Loop::Call call(loop_);
  std::optional<Result<T>> answer;
  Question question;
  question.abort = [&] {
    answer = closed();
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
  if (!*answer && answer->failure().code != errc::timeout)
    return Failure{answer->failure().code, about(what, name, answer->failure().words)};
  return std::move(*answer);
}

}  // namespace holdfast::client
