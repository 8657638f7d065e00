#pragma once

#include <holdfast/lease_source.hpp>

namespace holdfast {

class Client;

/// Exclusive leases of one resource, or of several taken together (all or nothing, no deadlock
/// whatever the order in which others name them). Made by Client::mutex(). Thread-safe.
class Mutex : public LeaseSource {
 private:
  friend class Client;
  explicit Mutex(LeaseSource source) noexcept : LeaseSource(std::move(source)) {}
};

}  // namespace holdfast
