#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include <holdfast/lease.hpp>

#include "client/recipe.hpp"
#include "client/tenure.hpp"

namespace holdfast::client {

class Engine;

/// What a Lease points to: one caller's seat on a tenure.
///
/// `ended_`, and through the tenure `standing` and `valid_until`, may be read by anyone; the rest
/// is guarded by the engine's mutex.
class Hold {
 public:
  Hold(std::shared_ptr<Tenure> tenure, std::shared_ptr<const Recipe> recipe,
       std::uint32_t token_offset, Predecessor predecessor, Instant since) noexcept;

  static Lease lease(std::shared_ptr<Hold> hold) noexcept { return Lease(std::move(hold)); }

  [[nodiscard]] std::uint64_t token(std::size_t name) const noexcept {
    return tenure_->tokens[name] + token_offset_;
  }
  [[nodiscard]] LeaseState state() const noexcept;
  [[nodiscard]] LossReason reason() const noexcept;
  [[nodiscard]] bool forked() const noexcept;
  /// Nothing is left to do for it.
  [[nodiscard]] bool over() const noexcept {
    const auto seat = seat_.load(std::memory_order_acquire);
    return seat == Seat::released || seat == Seat::lost;
  }

  [[nodiscard]] const std::shared_ptr<Engine>& engine() const noexcept { return recipe_->engine; }
  [[nodiscard]] Tenure& tenure() const noexcept { return *tenure_; }
  [[nodiscard]] const std::shared_ptr<Tenure>& shared_tenure() const noexcept { return tenure_; }
  [[nodiscard]] const Recipe& recipe() const noexcept { return *recipe_; }
  [[nodiscard]] const driver::Request& request() const noexcept { return tenure_->request; }
  [[nodiscard]] Predecessor predecessor() const noexcept { return predecessor_; }
  [[nodiscard]] Instant since() const noexcept { return since_; }

 private:
  friend class Engine;

  std::shared_ptr<Tenure> tenure_;
  std::shared_ptr<const Recipe> recipe_;
  Hold* beside_ = nullptr;  // on the same tenure
  std::uint32_t token_offset_;
  Predecessor predecessor_;
  Instant since_;

  /// unconfirmed: released by the caller, but the store has not confirmed it.
  enum class Seat : std::uint8_t { seated, released, lost, unconfirmed };
  std::atomic<Seat> seat_{Seat::seated};

  // Made when somebody asks for them: most leases are never watched.
  std::optional<std::stop_source> stop_;
  std::vector<std::function<void(LossReason)>> on_loss_;
  std::vector<std::function<void()>> on_jeopardy_;
};

}  // namespace holdfast::client
