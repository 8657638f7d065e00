#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/scratch.hpp"

namespace holdfast::test {

using Words = std::vector<std::string>;

/// Runs the `holdfast` program on a store of the test's own, given by HOLDFAST_STORE.
class Tool : public ::testing::Test {
 protected:
  struct Result {
    int code = -1;  ///< -1: it did not end, or was killed by a signal
    std::string out, err;
  };

  /// Starts it; standard error goes to a file, see errors(). The last of a variable wins.
  [[nodiscard]] Process start(const Words& arguments, const Words& environment = {});
  /// Starts and waits for the end.
  [[nodiscard]] Result run(const Words& arguments, const Words& environment = {});
  [[nodiscard]] std::string errors() const;

  /// What `inspect --json` says.
  [[nodiscard]] nlohmann::json inspect(const std::string& name);
  [[nodiscard]] bool held(const std::string& name) { return !inspect(name)["holders"].empty(); }

  [[nodiscard]] std::string url() const { return "sqlite://" + scratch_.file("locks.db"); }

  Scratch scratch_;
};

/// The lines of a text, each as JSON.
[[nodiscard]] std::vector<nlohmann::json> json_lines(const std::string& text);

/// No such process, or one that only waits to be reaped.
[[nodiscard]] bool gone(pid_t pid);

/// `run NAME -- sh -c SCRIPT`.
[[nodiscard]] Words run_script(Words options, const std::string& script);

/// The exit code, or -1 if it did not end by itself.
[[nodiscard]] int code_of(Process& process);

}  // namespace holdfast::test
