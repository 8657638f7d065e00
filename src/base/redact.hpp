#pragma once

#include <string>
#include <string_view>

namespace holdfast {

/// What may be shown of a text that was given as a URL, well formed or not: what a password may be
/// (from the first `:` to the last `@`) and the values of options that hold secrets are `***`.
[[nodiscard]] std::string redact_url(std::string_view text);

/// The part of a URL where user, password and hosts start: behind `scheme://`, or the whole text.
[[nodiscard]] std::size_t authority_offset(std::string_view text) noexcept;

/// Whether an option of this name (decoded) holds a secret.
[[nodiscard]] bool is_secret_option(std::string_view name);

}  // namespace holdfast
