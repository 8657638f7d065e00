#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/duration.hpp"

using namespace holdfast;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

/// What a failure proposes must be accepted.
void check_proposal(std::string_view words) {
  constexpr std::string_view before = ": did you mean ";
  // Behind the quoted text, which may hold anything.
  const auto at = words.rfind(before);
  if (at == words.npos || !words.ends_with("? (units: us, ms, s, m, h)")) return;
  const auto proposal = words.substr(at + before.size());
  require(parse_duration(proposal.substr(0, proposal.find('?'))).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto duration = parse_duration(text); duration.ok()) {
    require(duration->count() >= 0 && duration.value() <= std::chrono::hours(87'600));
    const auto again = parse_duration(format_duration(duration.value()));
    require(again.ok() && again.value() == duration.value());
  } else {
    require(duration.failure().words.size() < 1000);
    check_proposal(duration.failure().words);
  }

  std::int64_t count = 0;
  std::memcpy(&count, data, size < sizeof count ? size : sizeof count);
  require(!format_duration(std::chrono::nanoseconds(count)).empty());
  return 0;
}
