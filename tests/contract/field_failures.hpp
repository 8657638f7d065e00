#pragma once

#include "contract/contract.hpp"

namespace holdfast::test {

/// Outages that other lock products have had, by their number in docs/testing.md. A, B and C are
/// clients of their own; where it takes processes, see FieldFailureOfProcesses.
class FieldFailure : public Contract {
 protected:
  const Client a_ = client();
  const Client b_ = client();
  const Client c_ = client();
  static constexpr LeaseOptions brief{.ttl = short_ttl, .auto_renew = false};
  static constexpr LeaseOptions lasting{.ttl = long_ttl};
};

class FieldFailureOfProcesses : public FieldFailure {};
class FieldFailureAtOpenStores : public FieldFailure {};

}  // namespace holdfast::test
