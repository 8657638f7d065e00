#pragma once

#include <string>
#include <system_error>

namespace holdfast {

/// Why an operation did not do what it was asked. The values are stable; new ones are added at the
/// end.
enum class errc {
  timeout = 1,    ///< the wait ended first (or the resource was busy and no wait was allowed)
  canceled,       ///< a stop token asked the wait to end
  lost,           ///< the lease is over: nothing done under it can be trusted any more
  unavailable,    ///< the store cannot be reached or cannot work now; nothing was changed
  unknown,        ///< the store may or may not have done it; Holdfast undoes it in the background
  unsupported,    ///< this store cannot do that (see Capabilities)
  denied,         ///< the store refused: permissions, credentials
  misconfigured,  ///< the store or the request is set up in a way that cannot be safe
  bad_name,       ///< the resource name is not valid
  bad_url,        ///< the store URL is not valid
  bad_argument,   ///< an option is out of its range
  closed,         ///< the client has been closed
  conflict,       ///< a cell has another version than expected
};

/// The category of holdfast::errc; its name is "holdfast". Thread-safe.
[[nodiscard]] const std::error_category& error_category() noexcept;

[[nodiscard]] inline std::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

/// What every throwing call of Holdfast throws: a code for programs and words for people. The words
/// name the store, the operation, what was tried and what to do next; they never hold a secret.
class Error : public std::system_error {
 public:
  Error(errc code, const std::string& words);

  /// The words alone, without the text of the code that what() ends with.
  [[nodiscard]] const std::string& words() const noexcept { return words_; }

 private:
  std::string words_;
};

}  // namespace holdfast

template <>
struct std::is_error_code_enum<holdfast::errc> : std::true_type {};
