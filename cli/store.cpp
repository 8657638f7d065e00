#include "store.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <CLI/App.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/url.hpp"
#include "message.hpp"

namespace holdfast::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// $XDG_STATE_HOME or ~/.local/state. The XDG specification wants relative paths ignored.
std::string state_home() {
  if (auto path = variable("XDG_STATE_HOME"); path.starts_with('/')) return path;
  auto home = variable("HOME");
  if (!home.starts_with('/'))
    if (const passwd* user = ::getpwuid(::getuid()); user && user->pw_dir) home = user->pw_dir;
  if (!home.starts_with('/'))
    throw Complaint(unavailable, "default store",
                    "neither XDG_STATE_HOME nor HOME names a directory",
                    "Set HOLDFAST_STORE, for instance to sqlite:///var/lib/app/locks.db");
  return home + "/.local/state";
}

/// `mkdir -p`, each new directory for its owner alone.
void make_directories(const std::string& path) {
  for (auto end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const auto part = path.substr(0, end);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST && end == std::string::npos)
      throw Complaint(
          unavailable, "default store",
          fmt::format("the directory {} cannot be made: {}", part, std::strerror(errno)),
          "Set HOLDFAST_STORE, or XDG_STATE_HOME to a directory that can be written to");
    if (end == std::string::npos) return;
  }
}

}  // namespace

std::string sqlite_url(const std::string& path) {
  static constexpr std::string_view plain = "-._~/";
  std::string url = "sqlite://";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || plain.find(c) != std::string_view::npos)
      url += c;
    else
      url += fmt::format("%{:02X}", byte);
  }
  return url;
}

void add_store_option(CLI::App& command, std::string& url) {
  command
      .add_option(
          "--store", url,
          "The store, such as sqlite:///var/lib/app/locks.db. Better set HOLDFAST_STORE: other "
          "users can read command lines, and with them a password. Default: an SQLite file of "
          "yours, ~/.local/state/holdfast/locks.db")
      ->option_text("URL")
      // An empty variable in a script must not lead to another store than the one that was meant.
      ->check([](const std::string& text) { return std::string(text.empty() ? "is empty" : ""); });
}

std::string store_url(const std::string& option) {
  if (!option.empty()) {
    const auto parsed = Url::parse(option);
    if (parsed && parsed->redacted().find("***") != std::string::npos)
      say(
          fmt::format("store {}: other users of this machine can read a password in a command "
                      "line. Put the URL into the environment variable HOLDFAST_STORE",
                      parsed->redacted()));
    return option;
  }
  if (auto url = variable("HOLDFAST_STORE"); !url.empty()) return url;
  const auto directory = state_home() + "/holdfast";
  make_directories(directory);
  return sqlite_url(directory + "/locks.db");
}

}  // namespace holdfast::cli
