#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// One store, made for one test.
class Store {
 public:
  virtual ~Store() = default;

  /// What clients open it by.
  [[nodiscard]] virtual std::string url() const = 0;

  // Behind Holdfast's back, where StoreKind::open_to_others.
  /// Removes all that is kept of a resource: holders, waiters and tokens.
  virtual void erase(std::string_view name);
  /// Puts an empty store in this one's place.
  virtual void replace();
  /// Another program locks the store for this long.
  virtual void lock_for(std::chrono::milliseconds time);

  // Where StoreKind::server.
  virtual void kill();
  virtual void start();
  virtual void pause();
  virtual void resume();
};

/// A kind of store, and which cases apply to it.
struct StoreKind {
  std::string name;
  std::function<std::unique_ptr<Store>()> make;
  bool several_processes = false;  ///< several processes can use it
  bool open_to_others = false;     ///< its contents can be changed without Holdfast
  bool keeps = false;   ///< leases and tokens are there when all clients have come and gone
  bool server = false;  ///< it runs in a process that can be killed and paused
};
std::ostream& operator<<(std::ostream& out, const StoreKind& kind);

/// All stores that the suite runs on: one line each.
[[nodiscard]] const std::vector<StoreKind>& all_stores();
/// Those that a case applies to.
[[nodiscard]] std::vector<StoreKind> stores_with(bool StoreKind::* trait);

StoreKind memory_store();
StoreKind sqlite_store();

}  // namespace holdfast::test
