#include "cli/tool.hpp"

#include <fstream>
#include <sstream>

namespace holdfast::test {
namespace {

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string rest_of(Process& process) {
  std::string text;
  while (const auto line = process.read_line()) text += *line + "\n";
  return text;
}

}  // namespace

Process Tool::start(const Words& arguments, const Words& environment) {
  // env(1), since a variable that is there twice has one value for one program, the other for the
  // next.
  Words command{"/usr/bin/env", "HOLDFAST_STORE=" + url(), "ERRORS=" + scratch_.file("errors")};
  command.insert(command.end(), environment.begin(), environment.end());
  // `exec`, so that the process that the test knows is the tool and no shell.
  command.insert(command.end(),
                 {"/bin/sh", "-c", R"(exec "$0" "$@" 2>>"$ERRORS")", HOLDFAST_CLI_PATH});
  command.insert(command.end(), arguments.begin(), arguments.end());
  return Process(std::move(command));
}

Tool::Result Tool::run(const Words& arguments, const Words& environment) {
  std::ofstream(scratch_.file("errors"), std::ios::trunc);
  auto process = start(arguments, environment);
  process.close_input();
  Result result;
  result.out = rest_of(process);
  result.code = code_of(process);
  result.err = errors();
  return result;
}

std::string Tool::errors() const { return contents(scratch_.file("errors")); }

nlohmann::json Tool::inspect(const std::string& name) {
  auto process = start({"inspect", name, "--json"});
  const auto text = rest_of(process);
  EXPECT_EQ(code_of(process), 0) << errors();
  return nlohmann::json::parse(text);
}

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) values.push_back(nlohmann::json::parse(line));
  return values;
}

bool gone(pid_t pid) {
  const auto stat = contents("/proc/" + std::to_string(pid) + "/stat");
  const auto end = stat.rfind(')');
  return end == std::string::npos || stat.substr(end, 3) == ") Z";
}

Words run_script(Words options, const std::string& script) {
  Words words{"run"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", "/bin/sh", "-c", script});
  return words;
}

int code_of(Process& process) {
  const auto exit = process.wait();
  return exit && !exit->by_signal ? exit->code : -1;
}

}  // namespace holdfast::test
