#include "contract/stores.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace holdfast::test {

const std::vector<StoreKind>& all_stores() {
  static const std::vector<StoreKind> stores{
      memory_store(),
      sqlite_store(),
  };
  return stores;
}

std::vector<StoreKind> stores_with(bool StoreKind::* trait) {
  std::vector<StoreKind> found;
  std::ranges::copy_if(all_stores(), std::back_inserter(found),
                       [trait](const StoreKind& kind) { return kind.*trait; });
  return found;
}

std::ostream& operator<<(std::ostream& out, const StoreKind& kind) { return out << kind.name; }

namespace {
[[noreturn]] void not_here() { throw std::logic_error("this kind of store cannot do that"); }
}  // namespace

void Store::erase(std::string_view) { not_here(); }
void Store::replace() { not_here(); }
void Store::lock_for(std::chrono::milliseconds) { not_here(); }
void Store::kill() { not_here(); }
void Store::start() { not_here(); }
void Store::pause() { not_here(); }
void Store::resume() { not_here(); }

}  // namespace holdfast::test
