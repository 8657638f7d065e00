// "Testing your own code" in docs/guide.md: an importer, and its tests.

#include <chrono>
#include <functional>
#include <string>

#include <holdfast/holdfast.hpp>

#include "check.hpp"

using namespace std::chrono_literals;

// [subject]
enum class Import { done, busy, lost };

Import import_customers(const holdfast::Client& client, const std::function<void()>& copy_one) {
  auto lease = client.mutex("import:customers").try_acquire();
  if (!lease) return Import::busy;
  for (int row = 0; row < 10; ++row) {
    if (lease->state() == holdfast::LeaseState::lost) return Import::lost;
    copy_one();
  }
  return lease->release() == holdfast::ReleaseOutcome::released ? Import::done : Import::lost;
}
// [/subject]

namespace {

// [tests]
void imports_when_it_is_alone() {
  holdfast::Client client("memory:alone");
  int copied = 0;
  check(import_customers(client, [&] { ++copied; }) == Import::done && copied == 10);
}

void leaves_another_import_alone() {
  holdfast::Client client("memory:busy"), another("memory:busy");
  auto lease = another.mutex("import:customers").acquire();
  check(import_customers(client, [] { check(false); }) == Import::busy);
}

void stops_when_the_lease_is_lost() {
  holdfast::Client client("memory:lost"), an_operator("memory:lost");
  int copied = 0;
  const auto copy_one = [&] {
    if (++copied == 3) an_operator.revoke("import:customers");
  };
  check(import_customers(client, copy_one) == Import::lost);
}
// [/tests]

}  // namespace

int main() {
  imports_when_it_is_alone();
  leaves_another_import_alone();
  stops_when_the_lease_is_lost();
}
