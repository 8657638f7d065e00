#include <fmt/format.h>
#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include <holdfast/version.hpp>

#include "command.hpp"
#include "driver/registry.hpp"
#include "exit_code.hpp"
#include "json.hpp"

namespace holdfast::cli {

void add_version(CLI::App& app, CommandLine& line) {
  auto* command = add_command(app, "version", "Show the version, and the stores that were built in",
                              "[--json]", "");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "One JSON object");
  command->callback([&line, json] {
    line.action = [json] {
      const auto stores = driver::schemes();
      if (*json) {
        Json object;
        object["version"] = version;
        object["stores"] = stores;
        print_line(object);
      } else {
        print(fmt::format("holdfast {}\nstores: {}\n", version, fmt::join(stores, " ")));
      }
      return int{ok};
    };
  });
}

}  // namespace holdfast::cli
