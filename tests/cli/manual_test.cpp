// The man page and the completion scripts know all that the program knows.

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "cli/tool.hpp"

namespace holdfast::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Words commands{"run",  "ls",   "inspect",    "revoke", "watch",
                     "info", "demo", "completion", "version"};

class Manual : public Tool {
 protected:
  std::string help(Words command) {
    command.emplace_back("--help");
    return run(command).out;
  }
  /// Completes the last of these words in a real bash.
  std::string complete(const Words& words) {
    std::string script = "source <(\"$0\" completion bash); COMP_WORDS=(";
    for (const auto& word : words) script += " '" + word + "'";
    script += "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _holdfast; echo \"${COMPREPLY[*]}\"";
    Process bash({"/bin/bash", "-c", script, HOLDFAST_CLI_PATH});
    return bash.read_line().value_or("");
  }
};

std::set<std::string> options_in(const std::string& help) {
  static const std::regex option("(^|\\s)(--[a-z][a-z-]*)");
  std::set<std::string> found;
  for (std::sregex_iterator at(help.begin(), help.end(), option), end; at != end; ++at)
    found.insert((*at)[2]);
  return found;
}

TEST_F(Manual, man_page_has_all_commands_and_options) {
  const auto path = std::filesystem::path(__FILE__).parent_path() / "../../docs/man/holdfast.1";
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  ASSERT_FALSE(text.str().empty());
  const auto page = std::regex_replace(text.str(), std::regex("\\\\-"), "-");
  const auto all_help = help({});
  for (const auto& command : commands) {
    EXPECT_THAT(all_help, HasSubstr("\n  " + command + " "));
    EXPECT_THAT(page, HasSubstr("\n.SS " + command));
    const auto words = command == "demo" ? Words{"demo", "sale"} : Words{command};
    for (const auto& option : options_in(help(words)))
      EXPECT_THAT(page, HasSubstr(option)) << command;
  }
  EXPECT_THAT(all_help, Not(HasSubstr("demo-buyer")));
}

TEST_F(Manual, bash_completes) {
  EXPECT_EQ(complete({"holdfast", "ins"}), "inspect");
  EXPECT_EQ(complete({"holdfast", "run", "x", "--on"}), "--on-loss");
  EXPECT_EQ(complete({"holdfast", "run", "x", "--on-loss", ""}), "term kill warn");
  EXPECT_EQ(complete({"holdfast", "run", "x", "--ttl", ""}), "");
  EXPECT_EQ(complete({"holdfast", "demo", "sale", "--cha"}), "--chaos");
  EXPECT_EQ(complete({"holdfast", "completion", "f"}), "fish");
  EXPECT_THAT(complete({"holdfast", "run", "x", "--", "bas"}), HasSubstr("bash"));
}

TEST_F(Manual, scripts_know_all_options) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto script = run({"completion", shell}).out;
    EXPECT_THAT(script, HasSubstr("inspect")) << shell;
    EXPECT_THAT(script, HasSubstr("on-loss")) << shell;
    EXPECT_THAT(script, Not(HasSubstr("demo-buyer"))) << shell;
  }
}

}  // namespace
}  // namespace holdfast::test
