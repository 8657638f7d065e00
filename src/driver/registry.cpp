#include "driver/registry.hpp"

#include <array>

#include "base/name.hpp"

#if HOLDFAST_WITH_MEMORY
#include "drivers/memory/memory.hpp"
#endif
#if HOLDFAST_WITH_SQLITE
#include "drivers/sqlite/sqlite.hpp"
#endif

namespace holdfast::driver {
namespace {

struct Entry {
  std::string_view scheme;
  Result<std::unique_ptr<Driver>> (*open)(const Url& url, Host host);
};

// A new store is a line here. The empty entry keeps the table valid when none is built in.
constexpr std::array table = {
#if HOLDFAST_WITH_MEMORY
    Entry{"memory", memory::open},
#endif
#if HOLDFAST_WITH_SQLITE
    Entry{"sqlite", sqlite::open},
#endif
    Entry{{}, nullptr},
};

}  // namespace

Result<std::unique_ptr<Driver>> open(const Url& url, Host host) {
  std::string known;
  for (const auto& [scheme, open] : table) {
    if (scheme.empty()) continue;
    if (scheme == url.scheme()) return open(url, std::move(host));
    known.append(known.empty() ? "" : ", ").append(scheme).append(":");
  }
  return Failure{errc::bad_url, "no store of the kind " + quoted(url.scheme() + ":") +
                                    " is built into this program; it knows " +
                                    (known.empty() ? "none" : known)};
}

std::vector<std::string> schemes() {
  std::vector<std::string> names;
  for (const auto& entry : table)
    if (!entry.scheme.empty()) names.emplace_back(entry.scheme);
  return names;
}

}  // namespace holdfast::driver
