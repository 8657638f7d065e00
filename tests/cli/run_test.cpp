// `holdfast run`: what scripts rely on while all goes well.

#include <filesystem>
#include <fstream>

#include "cli/tool.hpp"

namespace holdfast::test {
namespace {

using ::testing::HasSubstr;

using RunCommand = Tool;

TEST_F(RunCommand, passes_the_command_s_exit_code_through) {
  for (const int code : {0, 1, 42, 64, 75, 255})
    EXPECT_EQ(run(run_script({"job"}, "exit " + std::to_string(code))).code, code);
  EXPECT_EQ(run(run_script({"job"}, "kill -KILL $$")).code, 128 + SIGKILL);
  EXPECT_EQ(run(run_script({"job"}, "kill -TERM $$")).code, 128 + SIGTERM);
  EXPECT_EQ(errors(), "");
}

TEST_F(RunCommand, what_the_command_is_told) {
  const auto result =
      run(run_script({"b=1 \"x\"", "a", "--ttl", "5s", "--owner", "me"},
                     "echo $HOLDFAST_TOKEN; echo \"$HOLDFAST_TOKENS\"; echo \"$HOLDFAST_NAME\";"
                     "echo \"$HOLDFAST_NAMES\"; echo $HOLDFAST_OWNER; echo $HOLDFAST_TTL_MS;"
                     "echo $HOLDFAST_STORE"));
  ASSERT_EQ(result.code, 0) << result.err;
  std::istringstream lines(result.out);
  std::string token, tokens, name, names, owner, ttl, store;
  for (auto* line : {&token, &tokens, &name, &names, &owner, &ttl, &store})
    std::getline(lines, *line);
  EXPECT_GT(std::stoull(token), 0U);
  EXPECT_EQ(nlohmann::json::parse(tokens)["b=1 \"x\""], std::stoull(token));
  EXPECT_GT(nlohmann::json::parse(tokens)["a"], 0U);
  EXPECT_EQ(name, "b=1 \"x\"");
  EXPECT_EQ(nlohmann::json::parse(names), nlohmann::json({"b=1 \"x\"", "a"}));
  EXPECT_EQ(owner, "me");
  EXPECT_EQ(ttl, "5000");
  EXPECT_EQ(store, url());
}

TEST_F(RunCommand, the_store_of_the_command_line_is_not_put_into_the_environment) {
  const auto result =
      run({"run", "x", "--store", url(), "--", "/bin/sh", "-c", "echo \"<$HOLDFAST_STORE>\""},
          {"HOLDFAST_STORE="});
  EXPECT_EQ(result.out, "<>\n");
}

TEST_F(RunCommand, tokens_rise) {
  std::uint64_t before = 0;
  for (int i = 0; i < 3; ++i) {
    const auto token = std::stoull(run(run_script({"job"}, "echo $HOLDFAST_TOKEN")).out);
    EXPECT_GT(token, before);
    before = token;
  }
}

TEST_F(RunCommand, busy_and_timed_out) {
  auto holder = start(run_script({"job", "--note", "nightly backup"}, "echo ready; read -r line"));
  ASSERT_EQ(holder.read_line(), "ready");

  auto result = run(run_script({"job", "--no-wait"}, "echo never"));
  EXPECT_EQ(result.code, 75);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("\"job\" is held by "));
  EXPECT_THAT(result.err, HasSubstr("nightly backup"));

  result = run(run_script({"job", "--wait", "50ms"}, "echo never"));
  EXPECT_EQ(result.code, 75);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("timed out"));

  // One of several names is enough to be busy, and then none is taken.
  EXPECT_EQ(run(run_script({"other", "job", "--no-wait"}, "echo never")).code, 75);
  EXPECT_FALSE(held("other"));

  holder.write("go on");
  EXPECT_EQ(code_of(holder), 0);
  EXPECT_FALSE(held("job"));
}

TEST_F(RunCommand, waits_for_ever_by_default) {
  auto holder = start(run_script({"job"}, "echo ready; read -r line"));
  ASSERT_EQ(holder.read_line(), "ready");
  auto waiter = start(run_script({"job"}, "echo mine"));
  ASSERT_TRUE(eventually([&] { return inspect("job")["waiters"].size() == 1; }));
  holder.write("go on");
  EXPECT_EQ(waiter.read_line(), "mine");
  EXPECT_EQ(code_of(waiter), 0);
}

TEST_F(RunCommand, several_names_and_shared_and_permits) {
  auto both = start(run_script({"b", "a"}, "echo ready; read -r line"));
  ASSERT_EQ(both.read_line(), "ready");
  EXPECT_TRUE(held("a") && held("b"));

  auto reader = start(run_script({"book", "--shared"}, "echo ready; read -r line"));
  ASSERT_EQ(reader.read_line(), "ready");
  EXPECT_EQ(run(run_script({"book", "--shared", "--no-wait"}, "exit 3")).code, 3);
  EXPECT_EQ(run(run_script({"book", "--no-wait"}, "exit 3")).code, 75);

  auto first = start(run_script({"pool", "--permits", "2"}, "echo ready; read -r line"));
  auto second = start(run_script({"pool", "--permits", "2"}, "echo ready; read -r line"));
  ASSERT_EQ(first.read_line(), "ready");
  ASSERT_EQ(second.read_line(), "ready");
  EXPECT_EQ(run(run_script({"pool", "--permits", "2", "--no-wait"}, "exit 3")).code, 75);
  const auto holder = inspect("pool")["holders"][0];
  EXPECT_EQ(holder["mode"], "permits");
  EXPECT_EQ(holder["limit"], 2);
}

TEST_F(RunCommand, commands_that_cannot_be_started) {
  auto result = run({"run", "job", "--", "no-such-command-here"});
  EXPECT_EQ(result.code, 127);
  EXPECT_THAT(result.err, HasSubstr("not found"));

  std::ofstream(scratch_.file("plain")) << "echo hello\n";
  result = run({"run", "job", "--", scratch_.file("plain")});
  EXPECT_EQ(result.code, 126);
  EXPECT_THAT(result.err, HasSubstr("execute permission"));

  // A script without #! runs, as in a shell.
  std::filesystem::permissions(scratch_.file("plain"), std::filesystem::perms::owner_all);
  EXPECT_EQ(run({"run", "job", "--", scratch_.file("plain")}).out, "hello\n");
  EXPECT_FALSE(held("job"));
}

TEST_F(RunCommand, a_store_out_of_reach) {
  const auto result =
      run({"run", "job", "--store", "sqlite:///no/such/directory/locks.db", "--", "true"});
  EXPECT_EQ(result.code, 69);
  EXPECT_THAT(result.err, HasSubstr("/no/such/directory"));
}

TEST_F(RunCommand, a_store_that_locks_nobody_out_is_refused) {
  const auto result = run({"run", "job", "--store", "memory:", "--", "true"});
  EXPECT_EQ(result.code, 69);
  EXPECT_THAT(result.err, HasSubstr("locks nobody out"));
}

TEST_F(RunCommand, the_default_store_is_the_user_s_own) {
  const auto state = scratch_.file("state");
  const Words environment{"HOLDFAST_STORE=", "XDG_STATE_HOME=" + state};
  EXPECT_EQ(run(run_script({"job"}, "exit 4"), environment).code, 4);
  EXPECT_TRUE(std::filesystem::exists(state + "/holdfast/locks.db"));
  EXPECT_EQ(std::filesystem::status(state + "/holdfast").permissions(),
            std::filesystem::perms::owner_all);

  // A relative XDG_STATE_HOME is to be ignored.
  const Words home{"HOLDFAST_STORE=", "XDG_STATE_HOME=relative", "HOME=" + scratch_.file("home")};
  EXPECT_EQ(run(run_script({"job"}, "exit 4"), home).code, 4);
  EXPECT_TRUE(std::filesystem::exists(scratch_.file("home") + "/.local/state/holdfast/locks.db"));
}

TEST_F(RunCommand, quiet_and_verbose) {
  EXPECT_EQ(run(run_script({"job", "-q"}, "true")).err, "");
  EXPECT_EQ(run(run_script({"job"}, "true")).err, "");
  EXPECT_THAT(run(run_script({"job", "-v"}, "true")).err, HasSubstr("granted"));
}

}  // namespace
}  // namespace holdfast::test
