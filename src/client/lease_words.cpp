#include <holdfast/lease.hpp>

namespace holdfast {

std::string_view to_string(LeaseState state) noexcept {
  switch (state) {
    case LeaseState::held:
      return "held";
    case LeaseState::doubtful:
      return "doubtful";
    case LeaseState::lost:
      return "lost";
    case LeaseState::released:
      return "released";
  }
  return "?";
}

std::string_view to_string(LossReason reason) noexcept {
  switch (reason) {
    case LossReason::none:
      return "none";
    case LossReason::expired:
      return "expired";
    case LossReason::revoked:
      return "revoked";
    case LossReason::session_lost:
      return "session_lost";
    case LossReason::unreachable:
      return "unreachable";
    case LossReason::hold_limit:
      return "hold_limit";
    case LossReason::client_closed:
      return "client_closed";
    case LossReason::forked:
      return "forked";
  }
  return "?";
}

std::string_view to_string(ReleaseOutcome outcome) noexcept {
  switch (outcome) {
    case ReleaseOutcome::released:
      return "released";
    case ReleaseOutcome::already_lost:
      return "already_lost";
    case ReleaseOutcome::unknown:
      return "unknown";
  }
  return "?";
}

std::string_view to_string(Predecessor predecessor) noexcept {
  switch (predecessor) {
    case Predecessor::none:
      return "none";
    case Predecessor::released:
      return "released";
    case Predecessor::expired:
      return "expired";
    case Predecessor::revoked:
      return "revoked";
  }
  return "?";
}

}  // namespace holdfast
