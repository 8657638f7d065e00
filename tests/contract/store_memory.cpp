#include <atomic>

#include "contract/stores.hpp"

namespace holdfast::test {
namespace {

class MemoryStore final : public Store {
 public:
  std::string url() const override { return "memory:" + name_; }

 private:
  static inline std::atomic<int> count_{0};
  std::string name_ = "contract-" + std::to_string(++count_);
};

}  // namespace

StoreKind memory_store() {
  return {.name = "memory", .make = [] { return std::make_unique<MemoryStore>(); }};
}

}  // namespace holdfast::test
