#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace holdfast {

/// A store's URL (RFC 3986), with a list of hosts where one host may stand:
/// `scheme://user:password@host:port,host:port/path?option=value`. `sqlite:relative/path.db`,
/// `sqlite:///absolute/path.db` and `memory:NAME` have no hosts.
class Url {
 public:
  struct Host {
    std::string name;        ///< without brackets for IPv6
    std::uint16_t port = 0;  ///< 0: the scheme's default
    bool operator==(const Host&) const = default;
  };

  /// Fails with errc::bad_url; the words show the URL without its password and what was expected.
  [[nodiscard]] static Result<Url> parse(std::string_view text);

  [[nodiscard]] const std::string& scheme() const noexcept { return scheme_; }  ///< lower case
  [[nodiscard]] const std::string& user() const noexcept { return user_; }      ///< decoded
  /// Decoded. Never print it.
  [[nodiscard]] const std::string& password() const noexcept { return password_; }
  [[nodiscard]] const std::vector<Host>& hosts() const noexcept { return hosts_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }  ///< decoded
  /// The value of an option, decoded; nothing if absent. An option given twice is a bad URL.
  [[nodiscard]] std::optional<std::string> option(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& options() const noexcept {
    return options_;
  }

  /// Fails, naming the option and the known ones, if there is an option that is not in `known`.
  [[nodiscard]] std::optional<Failure> check_options(
      std::initializer_list<std::string_view> known) const;

  /// The URL as it may be shown: user kept, password and values of options that hold secrets
  /// (password, token, secret, key) replaced by `***`.
  [[nodiscard]] const std::string& redacted() const noexcept { return redacted_; }

 private:
  class Parser;
  std::string scheme_, user_, password_, path_, redacted_;
  std::vector<Host> hosts_;
  std::map<std::string, std::string, std::less<>> options_;
};

}  // namespace holdfast
