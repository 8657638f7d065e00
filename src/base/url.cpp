#include "base/url.hpp"

#include <boost/url/authority_view.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/name.hpp"
#include "base/redact.hpp"

namespace holdfast {
namespace {

constexpr std::size_t max_url_bytes = 4096;
constexpr std::size_t max_shown = 200;

using Part = boost::urls::pct_string_view;

Failure bad_url(std::string_view text, const std::string& words) {
  return {errc::bad_url, "store URL " + quoted(redact_url(text), max_shown) + " " + words};
}

/// Never shows the character: it may be one of a password.
std::string encoding_fault(std::string_view text) {
  static constexpr std::string_view plain = "-._~:/?#[]@!$&'()*+,;=%";
  const auto is_hex = [&](std::size_t at) {
    return at < text.size() && std::isxdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x80 || (std::isalnum(byte) == 0 && plain.find(text[at]) == plain.npos))
      return "has a character at offset " + std::to_string(at) +
             " that must be percent-encoded (a blank is %20)";
    if (byte == '%' && !(is_hex(at + 1) && is_hex(at + 2)))
      return "has a % at offset " + std::to_string(at) +
             " without two hexadecimal digits (a % itself is %25)";
  }
  return {};
}

/// Control characters have no place in any part: they end C strings and move terminals.
bool decode(Part part, std::string& decoded) {
  decoded = part.decode();
  for (std::size_t at = 0; at < decoded.size(); ++at) {
    const auto byte = static_cast<unsigned char>(decoded[at]);
    const auto next = at + 1 < decoded.size() ? static_cast<unsigned char>(decoded[at + 1]) : 0U;
    const bool c1 = byte == 0xC2 && next >= 0x80 && next < 0xA0;
    if (byte < 0x20 || byte == 0x7F || c1) return false;
  }
  return true;
}

}  // namespace

/// Fills in a Url from the raw parts of its text.
class Url::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Url> run() {
    if (text_.size() > max_url_bytes)
      fail("is longer than " + std::to_string(max_url_bytes) + " bytes");
    if (ok()) check_form();
    if (ok()) read_authority();
    if (ok()) read_rest();
    if (!ok()) return bad_url(text_, fault_);
    url_.redacted_ = redact_url(text_);
    return std::move(url_);
  }

 private:
  [[nodiscard]] bool ok() const noexcept { return fault_.empty(); }
  void fail(std::string words) { fault_ = std::move(words); }
  void read(Part part, std::string& into, std::string_view what) {
    if (!decode(part, into)) fail("has a control character in its " + std::string(what));
  }

  /// Splits off the authority, and makes sure that redaction hides every password.
  void check_form() {
    if (auto words = encoding_fault(text_); !words.empty()) return fail(std::move(words));
    if (text_.find('#') != text_.npos)
      return fail("has a #: if it belongs to a password or a name, write %23");

    const auto begin = authority_offset(text_);
    const auto end = begin == 0 ? 0 : std::min(text_.find_first_of("/?", begin), text_.size());
    authority_ = text_.substr(begin, end - begin);
    after_authority_ = end;

    const auto at = text_.rfind('@');
    if (at == text_.npos) return;
    if (at < end ? authority_.find('@') + begin != at
                 : !authority_.empty() || text_.substr(begin, at - begin).find(':') != text_.npos)
      fail(
          "has an @ besides the one between password and host: write %40, and / as %2F in a "
          "password");
  }

  void read_authority() {
    if (authority_.empty()) return;
    const auto at = authority_.find('@');
    const auto first = at == authority_.npos ? 0 : at + 1;
    // A host list is not RFC 3986, so each host gets an authority of its own.
    for (std::size_t begin = 0, end = 0; ok() && end < authority_.size(); begin = end + 1) {
      end = std::min(authority_.find(',', std::max(begin, first)), authority_.size());
      read_host(authority_.substr(begin, end - begin));
    }
  }

  void read_host(std::string_view text) {
    const auto parsed = boost::urls::parse_authority(text);
    // Shown by its number: in a muddled URL even a host may hold what redaction hides.
    const auto host_number = "host " + std::to_string(url_.hosts_.size() + 1);
    if (!parsed) return fail("is wrong: " + host_number + " is not name, name:port or [IPv6]:port");
    if (parsed->has_userinfo()) {
      read(parsed->encoded_user(), url_.user_, "user");
      read(parsed->encoded_password(), url_.password_, "password");
    }
    Host host;
    // By hand: port_number() of Boost.URL 1.81 takes 99999 for 34463.
    const std::string_view port = parsed->port();
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), host.port);
    if (parsed->has_port() && (error != std::errc{} || host.port == 0))
      return fail("is wrong: the port of " + host_number + " is not 1 to 65535");
    read(parsed->encoded_host_address(), host.name, "host");
    if (host.name.empty()) return fail("is wrong: " + host_number + " is empty");
    url_.hosts_.push_back(std::move(host));
  }

  void read_rest() {
    auto text = std::string(text_);
    if (after_authority_ != 0)
      text.replace(after_authority_ - authority_.size(), authority_.size(), "h");
    const auto parsed = boost::urls::parse_uri(text);
    if (!parsed)
      return fail(
          "is not of the form scheme://user:password@host:port,host:port/path?option=value or "
          "scheme:path");
    url_.scheme_ = parsed->scheme();
    for (char& c : url_.scheme_)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    read(parsed->encoded_path(), url_.path_, "path");
    if (parsed->encoded_query().empty()) return;
    for (const auto& param : parsed->encoded_params()) {
      std::string name, value;
      read(param.key, name, "options");
      read(param.value, value, "options");
      if (!ok()) return;
      if (name.empty()) return fail("has an option without a name");
      if (!url_.options_.emplace(name, std::move(value)).second)
        return fail("has the option " + quoted(name) + " twice");
    }
  }

  std::string_view text_, authority_;
  std::size_t after_authority_ = 0;
  std::string fault_;
  Url url_;
};

Result<Url> Url::parse(std::string_view text) { return Parser(text).run(); }

std::optional<std::string> Url::option(std::string_view name) const {
  const auto found = options_.find(name);
  if (found == options_.end()) return std::nullopt;
  return found->second;
}

std::optional<Failure> Url::check_options(std::initializer_list<std::string_view> known) const {
  for (const auto& [name, value] : options_) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string words = "has the unknown option " + quoted(name) + "; " + scheme_ + " stores know ";
    if (known.size() == 0) words += "none";
    for (std::string_view separator; const auto option : known) {
      words.append(separator).append(option);
      separator = ", ";
    }
    return bad_url(redacted_, words);
  }
  return std::nullopt;
}

}  // namespace holdfast
