#pragma once

#include <string>

#include <holdfast/client.hpp>

#include "command.hpp"

namespace holdfast::cli {

/// Gives a command the option --store.
void add_store_option(CLI::App& command, std::string& url);

/// The store to use: the option, else HOLDFAST_STORE, else the user's own SQLite file, whose
/// directory is made. Throws Complaint.
[[nodiscard]] std::string store_url(const std::string& option);

/// `sqlite://` and the path, percent-encoded.
[[nodiscard]] std::string sqlite_url(const std::string& path);

[[nodiscard]] inline Client open_store(const std::string& option) {
  return Client(store_url(option));
}

}  // namespace holdfast::cli
