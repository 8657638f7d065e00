#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/url.hpp"

using namespace holdfast;

namespace {

// Long and odd enough not to come about by chance, and not to need percent-encoding.
constexpr std::string_view secret = "hush~Zq9.hush";

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_printable_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

bool is_free_of_controls(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return (c >= 0 && c < 0x20) || c == 0x7F; });
}

void check_parts(const Url& url) {
  for (const auto* part : {&url.scheme(), &url.user(), &url.password(), &url.path()})
    require(is_free_of_controls(*part));
  for (const auto& host : url.hosts())
    require(!host.name.empty() && is_free_of_controls(host.name));
  for (const auto& [name, value] : url.options())
    require(!name.empty() && is_free_of_controls(name) && is_free_of_controls(value));
}

/// What is shown of a URL is a URL: the same one, but for its secrets.
void check_shown(const Url& url, std::string_view text) {
  require(is_printable_ascii(url.redacted()));
  // `h&key=x/path` may be a slip of the pen for `h?key=x`: more than the grammar asks for is
  // hidden.
  if (text.find('&') < text.find('?')) return;
  const auto parsed = Url::parse(url.redacted());
  require(parsed.ok());
  const Url& shown = parsed.value();
  require(shown.redacted() == url.redacted());
  require(shown.scheme() == url.scheme() && shown.user() == url.user());
  require(shown.hosts() == url.hosts() && shown.path() == url.path());
  require(shown.password() == (url.password().empty() ? "" : "***"));
  require(shown.options().size() == url.options().size());
}

void check(std::string_view text) {
  const auto url = Url::parse(text);
  if (url.ok()) {
    check_parts(url.value());
    check_shown(url.value(), text);
  } else {
    require(url.failure().code == errc::bad_url && url.failure().words.size() < 2000);
  }
}

void check_hidden(std::string_view text) {
  check(text);
  const auto url = Url::parse(text);
  const auto& shown = url.ok() ? url->redacted() : url.failure().words;
  require(shown.find(secret) == std::string::npos);
  if (url.ok()) {
    const auto failure = url->check_options({});
    require(!failure || failure->words.find(secret) == std::string::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text);
  if (text.find(secret) != text.npos || size > 5000) return 0;

  // A password wherever one may stand, in whatever surroundings, well formed or not.
  const auto cut = size == 0 ? 0 : data[0] % size;
  const std::string before(text.substr(0, cut)), after(text.substr(cut));
  const std::string hidden(secret);
  check_hidden("redis://:" + hidden + "@" + after);
  check_hidden("redis://" + before + ":" + hidden + after + "@h");
  check_hidden("redis://u:" + before + hidden + after + "@h/0?a=b");
  check_hidden(before + ":" + hidden + "@" + after);
  if (after.find('&') == after.npos) check_hidden(before + "?password=" + after + hidden);
  check_hidden(before + "&api_token=" + hidden + "&" + after);
  return 0;
}
