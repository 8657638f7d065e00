#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace holdfast {

inline constexpr std::size_t max_name_bytes = 512;

/// Why a resource name is not valid, or nothing: UTF-8 (RFC 3629), no control characters (C0, DEL,
/// C1), 1 to `max_bytes` bytes. The words show the offending byte and its place.
[[nodiscard]] std::optional<Failure> check_name(std::string_view name,
                                                std::size_t max_bytes = max_name_bytes);

/// The same for a text such as a note or an owner, which may be empty. `what` names it in the
/// words.
[[nodiscard]] std::optional<Failure> check_text(std::string_view text, std::string_view what,
                                                std::size_t max_bytes);

/// Checked, sorted and without duplicates: the order in which a set of names is always taken.
/// 1 to 64 names.
[[nodiscard]] Result<std::vector<std::string>> canonical_names(std::vector<std::string> names);

/// The text made printable for messages: quoted, cut, control bytes escaped.
[[nodiscard]] std::string quoted(std::string_view text, std::size_t max_characters = 80);

}  // namespace holdfast
