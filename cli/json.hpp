#pragma once

#include <nlohmann/json_fwd.hpp>

#include <holdfast/capabilities.hpp>
#include <holdfast/resource.hpp>

namespace holdfast::cli {

/// Fields of an object come out in the order in which they were put in.
using Json = nlohmann::ordered_json;

/// `name`, `holders` (each `owner`, `token`, `mode`, `since`, `expires_in_ms`, `note` …),
/// `waiters`, `token`.
[[nodiscard]] Json to_json(const ResourceInfo& resource);
[[nodiscard]] Json to_json(const HolderInfo& holder);
[[nodiscard]] Json to_json(const WaiterInfo& waiter);
[[nodiscard]] Json to_json(const Capabilities& capabilities);

/// On one line, and at once, for readers that follow.
void print_line(const Json& value);
void print(const std::string& text);

}  // namespace holdfast::cli
