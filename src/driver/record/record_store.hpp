#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.hpp"
#include "base/result.hpp"
#include "driver/record/record.hpp"

namespace holdfast::driver {

/// Records in transactions: what RecordDriver asks of a store that has no lock protocol of its own.
/// Used on the loop only.
///
/// Between begin() and commit() or rollback() the records are the store's, exclusively for writers.
/// References stay valid until the transaction ends.
class RecordStore {
 public:
  enum class Access { read, write };
  enum class Begun { yes, busy };  ///< busy: somebody else is writing, try again soon
  enum class Committed { yes, no, unknown };

  virtual ~RecordStore() = default;

  [[nodiscard]] virtual Result<Begun> begin(Access access) = 0;
  /// The outcome; `why` gets words unless it is yes. `no`: nothing was changed.
  [[nodiscard]] virtual Committed commit(Failure& why) = 0;
  virtual void rollback() noexcept = 0;

  /// The record of a resource, empty if there is none yet. Throws Error when it cannot be read.
  [[nodiscard]] virtual Record& record(std::string_view name) = 0;
  /// Marks it changed, so that commit() writes it.
  virtual void changed(std::string_view name) = 0;

  [[nodiscard]] virtual CellRecord& cell(std::string_view name) = 0;
  virtual void cell_changed(std::string_view name) = 0;

  /// Names of resources that are not idle, sorted, that start with `prefix`; at most `limit`.
  [[nodiscard]] virtual std::vector<std::string> names(std::string_view prefix,
                                                       std::size_t limit) = 0;

  /// A number that rises over all resources: the order of arrival.
  [[nodiscard]] virtual std::uint64_t next_ticket() = 0;
  /// Tokens and versions of a record that is new must start above this: at least as high as any
  /// that a record which the store has dropped had reached.
  [[nodiscard]] virtual std::uint64_t token_floor() = 0;

  /// Passes a hint to another client; best effort. After the commit.
  virtual void ring(const Hint& hint) noexcept = 0;
  /// False if it is sure that the client is gone, so that nobody will hear the bell.
  [[nodiscard]] virtual bool alive(const Id& client) noexcept = 0;
};

}  // namespace holdfast::driver
