#pragma once

#include <holdfast/lease_source.hpp>

namespace holdfast {

class Client;

/// At most `limit` permits of a resource are held at a time; each is a lease, so that the permit of
/// a crashed holder comes back. All users of a name must agree on the limit: a request with another
/// one is refused (errc::misconfigured) while the resource is in use. Made by Client::semaphore().
/// Thread-safe.
class Semaphore : public LeaseSource {
 private:
  friend class Client;
  explicit Semaphore(LeaseSource source) noexcept : LeaseSource(std::move(source)) {}
};

}  // namespace holdfast
