#pragma once

#include <holdfast/lease_source.hpp>

namespace holdfast {

class Client;

/// Readers and a writer. Its own calls take the exclusive lease; shared() gives the reader's side.
/// In order of arrival: a reader that comes after a waiting writer waits behind it, so that writers
/// are not starved; all readers next in line are granted at once. A writer may turn into a reader
/// without a gap (Lease::downgrade()). Made by Client::shared_mutex(). Thread-safe.
class SharedMutex : public LeaseSource {
 public:
  /// The reader's side of a shared mutex.
  class Shared : public LeaseSource {
   private:
    friend class Client;
    explicit Shared(LeaseSource source) noexcept : LeaseSource(std::move(source)) {}
  };

  [[nodiscard]] const Shared& shared() const noexcept { return shared_; }

 private:
  friend class Client;
  SharedMutex(LeaseSource exclusive, Shared shared) noexcept
      : LeaseSource(std::move(exclusive)), shared_(std::move(shared)) {}
  Shared shared_;
};

}  // namespace holdfast
