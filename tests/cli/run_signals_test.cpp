// `holdfast run` and signals: relayed to the command's group; nothing of the group outlives a kill.

#include <signal.h>

#include "cli/tool.hpp"

namespace holdfast::test {
namespace {

using RunSignals = Tool;

/// Waits by a child of its own, since a shell runs traps only between commands.
const std::string wait_for_ever = "while :; do sleep 1000 & wait $!; done";

pid_t read_pid(Process& process) { return std::stoi(process.read_line().value_or("0")); }

TEST_F(RunSignals, are_relayed_to_the_command) {
  auto job = start(run_script({"job"},
                              "trap 'echo USR1' USR1; trap 'echo USR2' USR2; trap 'echo HUP' HUP;"
                              "trap 'echo INT' INT; trap 'echo QUIT' QUIT; trap 'echo WINCH' WINCH;"
                              "trap 'exit 9' TERM; echo ready; " +
                                  wait_for_ever));
  ASSERT_EQ(job.read_line(), "ready");
  for (const auto& [signal, word] : {std::pair(SIGUSR1, "USR1"),
                                     {SIGUSR2, "USR2"},
                                     {SIGHUP, "HUP"},
                                     {SIGINT, "INT"},
                                     {SIGQUIT, "QUIT"},
                                     {SIGWINCH, "WINCH"}}) {
    job.signal(signal);
    EXPECT_EQ(job.read_line(), word);
  }
  job.signal(SIGTERM);
  EXPECT_EQ(code_of(job), 9);
}

TEST_F(RunSignals, an_untrapped_signal_ends_the_command_and_shows_in_the_code) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    auto job = start(run_script({"job"}, "echo ready; exec sleep 1000"));
    ASSERT_EQ(job.read_line(), "ready");
    job.signal(signal);
    EXPECT_EQ(code_of(job), 128 + signal);
    EXPECT_FALSE(held("job"));
  }
}

TEST_F(RunSignals, reach_grandchildren) {
  auto job = start(run_script({"job"}, "sleep 1000 & echo $!; wait"));
  const pid_t grandchild = read_pid(job);
  job.signal(SIGTERM);
  EXPECT_EQ(code_of(job), 128 + SIGTERM);
  EXPECT_TRUE(eventually([&] { return gone(grandchild); }));
}

TEST_F(RunSignals, end_a_wait_for_the_lock) {
  auto holder = start(run_script({"job"}, "echo ready; read -r line"));
  ASSERT_EQ(holder.read_line(), "ready");
  for (const int signal : {SIGTERM, SIGINT}) {
    auto waiter = start(run_script({"job"}, "echo never"));
    ASSERT_TRUE(eventually([&] { return inspect("job")["waiters"].size() == 1; }));
    waiter.signal(signal);
    EXPECT_EQ(waiter.read_line(), std::nullopt);
    EXPECT_EQ(code_of(waiter), 128 + signal);
    EXPECT_EQ(inspect("job")["waiters"].size(), 0U);  // it left no trace in the queue
  }
}

TEST_F(RunSignals, the_group_dies_when_holdfast_is_killed) {
  auto job = start(run_script(
      {"job"},
      "trap '' TERM HUP INT; sh -c 'trap \"\" TERM HUP INT; sleep 1000 & echo $!; wait' & "
      "echo $$; echo $!; wait"));
  const pid_t pids[] = {read_pid(job), read_pid(job), read_pid(job)};
  for (const pid_t pid : pids) ASSERT_FALSE(gone(pid));
  job.kill();
  for (const pid_t pid : pids) EXPECT_TRUE(eventually([&] { return gone(pid); })) << pid;
  // Nobody is left who holds the pipe of standard output, the guardian neither.
  EXPECT_EQ(job.read_line(), std::nullopt);
}

TEST_F(RunSignals, what_a_command_leaves_behind_runs_on) {
  auto job = start(run_script({"job"}, "sleep 1000 >/dev/null & echo $!"));
  const pid_t left = read_pid(job);
  EXPECT_EQ(code_of(job), 0);
  EXPECT_FALSE(gone(left));
  EXPECT_FALSE(held("job"));
  ::kill(left, SIGKILL);
}

TEST_F(RunSignals, nothing_is_left_of_holdfast) {
  // The guardian leads the group of the command; it must be gone, and reaped, at the end.
  auto job = start(run_script({"job"}, "read -r a b c d group rest </proc/$$/stat; echo $group"));
  const pid_t group = read_pid(job);
  EXPECT_NE(group, job.pid());
  EXPECT_EQ(code_of(job), 0);
  EXPECT_EQ(::kill(-group, 0), -1);
}

TEST_F(RunSignals, the_command_inherits_the_signals_as_they_were) {
  const auto result =
      run({"run", "job", "--", "/bin/grep", "-E", "^(SigBlk|ShdPnd):", "/proc/self/status"});
  EXPECT_EQ(result.out, "ShdPnd:\t0000000000000000\nSigBlk:\t0000000000000000\n");
}

TEST_F(RunSignals, an_ignored_sigchld_does_not_confuse) {
  Words command{"/bin/sh", "-c", "trap '' CHLD HUP; exec \"$0\" \"$@\"", HOLDFAST_CLI_PATH};
  for (const auto& word : run_script({"job"}, "exit 5")) command.push_back(word);
  Process job(command, {"HOLDFAST_STORE=" + url()});
  EXPECT_EQ(code_of(job), 5);
}

TEST_F(RunSignals, a_stopped_command_is_none_of_our_business) {
  auto job = start(run_script({"job"}, "echo $$; read -r line; exit 6"));
  const pid_t command = read_pid(job);
  ::kill(command, SIGSTOP);
  ASSERT_TRUE(eventually([&] { return !gone(command); }));
  job.signal(SIGCONT);  // relayed
  job.write("go on");
  EXPECT_EQ(code_of(job), 6);
}

}  // namespace
}  // namespace holdfast::test
