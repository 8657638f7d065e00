#pragma once

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/system_executor.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <holdfast/lease_source.hpp>

namespace holdfast {

namespace detail {

/// Starts an acquire for a completion handler. A named class, since g++ 12 destroys capturing
/// lambdas in co_await expressions twice.
class AcquireInitiation {
 public:
  AcquireInitiation(LeaseSource source, boot_clock::time_point deadline) noexcept
      : source_(std::move(source)), deadline_(deadline) {}

  template <class Handler>
  void operator()(Handler handler) const {
    namespace asio = boost::asio;
    const auto executor = asio::get_associated_executor(handler, asio::system_executor());
    std::stop_source stop;
    if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected())
      slot.assign([stop](asio::cancellation_type type) mutable {
        if (type != asio::cancellation_type::none) stop.request_stop();
      });
    // std::function copies, handlers only move; and an executor must not run dry while we wait.
    auto shared = std::make_shared<std::pair<Handler, decltype(asio::make_work_guard(executor))>>(
        std::move(handler), asio::make_work_guard(executor));
    source_.start_acquire(
        deadline_, stop.get_token(),
        [shared](std::exception_ptr error, std::optional<Lease> lease) {
          const auto to = shared->second.get_executor();
          boost::asio::post(to, Completion<Handler>(shared, std::move(error), std::move(lease)));
        });
  }

 private:
  template <class Handler>
  class Completion {
   public:
    using Shared = std::shared_ptr<
        std::pair<Handler, boost::asio::executor_work_guard<boost::asio::associated_executor_t<
                               Handler, boost::asio::system_executor>>>>;
    Completion(Shared shared, std::exception_ptr error, std::optional<Lease> lease)
        : shared_(std::move(shared)), error_(std::move(error)), lease_(std::move(lease)) {}
    void operator()() {
      auto shared = std::move(shared_);
      boost::asio::get_associated_cancellation_slot(shared->first).clear();
      Handler handler(std::move(shared->first));
      shared.reset();
      std::move(handler)(std::move(error_), std::move(lease_));
    }

   private:
    Shared shared_;
    std::exception_ptr error_;
    std::optional<Lease> lease_;
  };

  LeaseSource source_;
  boot_clock::time_point deadline_;
};

}  // namespace detail

template <class Rep, class Period, class CompletionToken>
auto LeaseSource::async_acquire(std::chrono::duration<Rep, Period> wait,
                                CompletionToken&& token) const {
  using Signature = void(std::exception_ptr, std::optional<Lease>);
  return boost::asio::async_initiate<CompletionToken, Signature>(
      detail::AcquireInitiation(*this, after(wait)), token);
}

template <class CompletionToken>
auto LeaseSource::async_acquire(CompletionToken&& token) const {
  using Signature = void(std::exception_ptr, std::optional<Lease>);
  return boost::asio::async_initiate<CompletionToken, Signature>(
      detail::AcquireInitiation(*this, boot_clock::time_point::max()), token);
}

}  // namespace holdfast
