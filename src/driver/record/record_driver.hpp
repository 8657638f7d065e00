#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "driver/driver.hpp"
#include "driver/record/lock_model.hpp"
#include "driver/record/record_store.hpp"

namespace holdfast::driver {

/// A driver for any store that can keep records in transactions. Requests that are pending at the
/// same time share a transaction (group commit); waiters are woken by hints and, should one get lost,
/// by their own heartbeat and by a timer at the holder's expiry.
class RecordDriver final : public Driver {
 public:
  enum class Batching {
    none,   ///< each request runs its transaction at once, inside the call (a store in memory)
    group,  ///< all that came in since the last transaction share the next one
  };

  /// The store may call `hint` (see hinted()) on the loop at any time after its construction.
  RecordDriver(Host host, Capabilities capabilities, LockModel::Self self, Batching batching);
  ~RecordDriver() override;

  /// Called once, before anything else.
  void attach(std::unique_ptr<RecordStore> store);

  /// A hint for this client has arrived. On the loop.
  void hinted(Hint::Kind kind, const Id& subject);

  [[nodiscard]] const Capabilities& capabilities() const noexcept override;
  void acquire(RequestPtr request, Handler<Grant> handler) override;
  void cancel(const RequestPtr& request) override;
  void renew(std::vector<RequestPtr> leases, Handler<std::vector<Renewal>> handler) override;
  void release(RequestPtr lease, Handler<Released> handler) override;
  void inspect(std::string name, Handler<ResourceInfo> handler) override;
  void list(std::string prefix, std::size_t limit, Handler<std::vector<ResourceInfo>> handler) override;
  void revoke(std::string name, Handler<std::size_t> handler) override;
  void read(std::string cell, Handler<CellValue> handler) override;
  void write(std::string cell, std::string value, std::uint64_t expected, Handler<std::uint64_t> handler) override;
  void watch(std::string cell, std::uint64_t since, Instant deadline, Handler<CellValue> handler) override;
};

}  // namespace holdfast::driver
