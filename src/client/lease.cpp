#include <algorithm>

#include <holdfast/error.hpp>
#include <holdfast/lease.hpp>

#include "client/engine.hpp"

namespace holdfast {

namespace {

const std::vector<std::string> no_names;

Failure over(const client::Hold& hold) {
  const auto state = hold.state();
  std::string words =
      "the lease on '" + hold.request().names.front() + "' is " + std::string(to_string(state));
  if (state == LeaseState::lost) words += " (" + std::string(to_string(hold.reason())) + ")";
  return {errc::lost, words + ": stop, and take it again before going on"};
}

}  // namespace

Lease::Lease() noexcept = default;
Lease::Lease(std::shared_ptr<client::Hold> hold) noexcept : hold_(std::move(hold)) {}
Lease::Lease(Lease&&) noexcept = default;

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    Lease old(std::move(*this));
    hold_ = std::move(other.hold_);
  }
  return *this;
}

Lease::~Lease() {
  if (!hold_) return;
  if (hold_->forked())
    keep_for_ever(std::move(hold_));
  else if (!hold_->over())
    hold_->engine()->release_detached(*hold_);
}

std::uint64_t Lease::token() const noexcept { return hold_ ? hold_->token(0) : 0; }

std::uint64_t Lease::token(std::string_view name) const noexcept {
  const auto found = std::find(names().begin(), names().end(), name);
  return found == names().end() ? 0
                                : hold_->token(static_cast<std::size_t>(found - names().begin()));
}

LeaseState Lease::state() const noexcept { return hold_ ? hold_->state() : LeaseState::released; }
LossReason Lease::loss_reason() const noexcept {
  return hold_ ? hold_->reason() : LossReason::none;
}

boot_clock::time_point Lease::valid_until() const noexcept {
  return hold_ ? Instant(Duration(hold_->tenure().valid_until.load(std::memory_order_acquire)))
               : Instant::min();
}

Predecessor Lease::predecessor() const noexcept {
  return hold_ ? hold_->predecessor() : Predecessor::none;
}
const std::vector<std::string>& Lease::names() const noexcept {
  if (!hold_) return no_names;
  return hold_->request().names;
}
std::string Lease::owner() const {
  if (!hold_) return {};
  const auto& request = hold_->request();
  return request.owner.empty() ? request.id.hex() : request.owner;
}

std::stop_token Lease::stop_token() const {
  if (!hold_ || hold_->forked()) {
    std::stop_source stopped;
    stopped.request_stop();
    return stopped.get_token();
  }
  return hold_->engine()->stop_token(*hold_);
}

void Lease::on_loss(std::function<void(LossReason)> callback) {
  if (hold_ && !hold_->forked()) hold_->engine()->on_loss(*hold_, std::move(callback));
}

void Lease::on_jeopardy(std::function<void()> callback) {
  if (hold_ && !hold_->forked()) hold_->engine()->on_jeopardy(*hold_, std::move(callback));
}

void Lease::ensure_held() const {
  std::error_code error;
  if (ensure_held(error)) return;
  if (!hold_) throw Error(errc::lost, "this lease is empty");
  over(*hold_).raise();
}

bool Lease::ensure_held(std::error_code& error) const noexcept {
  const auto now = state();
  error = now == LeaseState::held || now == LeaseState::doubtful ? std::error_code{}
                                                                 : make_error_code(errc::lost);
  return !error;
}

void Lease::renew() {
  ensure_held();
  if (auto failure = hold_->engine()->renew(*hold_)) failure->raise();
}

void Lease::renew(std::error_code& error) noexcept {
  if (!ensure_held(error)) return;
  if (auto failure = hold_->engine()->renew(*hold_)) error = failure->code;
}

void Lease::downgrade() {
  ensure_held();
  if (auto failure = hold_->engine()->downgrade(*hold_)) failure->raise();
}

ReleaseOutcome Lease::release() noexcept {
  return hold_ ? hold_->engine()->release(*hold_) : ReleaseOutcome::released;
}

}  // namespace holdfast
