#include "client/hold.hpp"

#include "client/engine.hpp"

namespace holdfast::client {

Hold::Hold(std::shared_ptr<Tenure> tenure, std::shared_ptr<const Recipe> recipe,
           std::uint32_t token_offset, Predecessor predecessor, Instant since) noexcept
    : tenure_(std::move(tenure)),
      recipe_(std::move(recipe)),
      token_offset_(token_offset),
      predecessor_(predecessor),
      since_(since) {}

bool Hold::forked() const noexcept { return recipe_->engine->forked(); }

LeaseState Hold::state() const noexcept {
  if (forked()) return LeaseState::lost;
  switch (seat_.load(std::memory_order_acquire)) {
    case Seat::released:
    case Seat::unconfirmed:
      return LeaseState::released;
    case Seat::lost:
      return LeaseState::lost;
    case Seat::seated:
      break;
  }
  switch (tenure_->at(boot_clock::now())) {
    case Tenure::Standing::held:
      return LeaseState::held;
    case Tenure::Standing::doubtful:
      return LeaseState::doubtful;
    case Tenure::Standing::lost:
      break;
  }
  return LeaseState::lost;
}

LossReason Hold::reason() const noexcept {
  if (forked()) return LossReason::forked;
  if (state() != LeaseState::lost) return LossReason::none;
  return tenure_->loss_reason();
}

}  // namespace holdfast::client
