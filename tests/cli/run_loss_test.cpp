// `holdfast run` when the lease is lost: the command stops (field failure B13), exit code 76.

#include <signal.h>

#include "cli/tool.hpp"

namespace holdfast::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using RunLoss = Tool;

const std::string wait_for_ever = "while :; do sleep 1000 & wait $!; done";

std::string milliseconds(std::chrono::milliseconds time) {
  return std::to_string(time.count()) + "ms";
}

pid_t read_pid(Process& process) { return std::stoi(process.read_line().value_or("0")); }

TEST_F(RunLoss, a_revoked_lease_ends_the_command) {
  auto job =
      start(run_script({"job", "--ttl", milliseconds(long_ttl)}, "echo ready; exec sleep 1000"));
  ASSERT_EQ(job.read_line(), "ready");
  EXPECT_EQ(run({"revoke", "job"}).code, 0);
  EXPECT_EQ(code_of(job), 76);
  EXPECT_THAT(errors(), HasSubstr("lost: it was revoked"));
}

TEST_F(RunLoss, term_first_so_that_the_command_can_clean_up) {
  auto job =
      start(run_script({"job"}, "trap 'echo cleaned; exit 0' TERM; echo ready; " + wait_for_ever));
  ASSERT_EQ(job.read_line(), "ready");
  EXPECT_EQ(run({"revoke", "job"}).code, 0);
  EXPECT_EQ(job.read_line(), "cleaned");
  EXPECT_EQ(code_of(job), 76);  // not the command's 0
}

TEST_F(RunLoss, then_kill_after_the_grace_with_all_descendants) {
  auto job = start(run_script(
      {"job", "--grace", "100ms"},
      "trap '' TERM; (trap '' TERM; sleep 1000) & echo $!; while :; do sleep 1000; done"));
  const pid_t grandchild = read_pid(job);
  EXPECT_EQ(run({"revoke", "job"}).code, 0);
  EXPECT_EQ(code_of(job), 76);
  EXPECT_TRUE(eventually([&] { return gone(grandchild); }));
  EXPECT_THAT(errors(), HasSubstr("sending KILL"));
}

TEST_F(RunLoss, descendants_that_outlive_the_command_are_killed_too) {
  auto job = start(run_script({"job", "--grace", "100ms"},
                              "(trap '' TERM; echo up; sleep 1000) & echo $!; exec sleep 1000"));
  std::string lines[] = {job.read_line().value_or(""), job.read_line().value_or("")};
  const pid_t grandchild = std::stoi(lines[0] == "up" ? lines[1] : lines[0]);
  EXPECT_EQ(run({"revoke", "job"}).code, 0);
  EXPECT_EQ(code_of(job), 76);
  EXPECT_TRUE(eventually([&] { return gone(grandchild); }));
}

TEST_F(RunLoss, kill_at_once) {
  auto job = start(run_script({"job", "--on-loss", "kill"},
                              "trap 'echo cleaned' TERM; echo ready; " + wait_for_ever));
  ASSERT_EQ(job.read_line(), "ready");
  EXPECT_EQ(run({"revoke", "job"}).code, 0);
  EXPECT_EQ(job.read_line(), std::nullopt);
  EXPECT_EQ(code_of(job), 76);
}

TEST_F(RunLoss, warn_lets_the_command_go_on) {
  auto job =
      start(run_script({"job", "--on-loss", "warn"}, "echo ready; read -r line; echo $line"));
  ASSERT_EQ(job.read_line(), "ready");
  EXPECT_EQ(run({"revoke", "job"}).code, 0);
  ASSERT_TRUE(eventually([&] { return errors().find("WITHOUT the lock") != std::string::npos; }));
  job.write("finished");
  EXPECT_EQ(job.read_line(), "finished");
  EXPECT_EQ(code_of(job), 76);
}

TEST_F(RunLoss, a_hold_that_is_too_long) {
  auto job = start(run_script({"job", "--max-hold", "300ms"}, "exec sleep 1000"));
  EXPECT_EQ(code_of(job), 76);
  EXPECT_THAT(errors(), HasSubstr("--max-hold"));
}

TEST_F(RunLoss, a_stopped_command_is_ended_too) {
  auto job = start(run_script({"job"}, "echo $$; exec sleep 1000"));
  const pid_t command = read_pid(job);
  ::kill(command, SIGSTOP);
  EXPECT_EQ(run({"revoke", "job"}).code, 0);
  EXPECT_EQ(code_of(job), 76);
}

// B13: the command must not outlive the lease, though holdfast cannot run to stop it.
TEST_F(RunLoss, B13_a_frozen_holdfast_still_stops_its_command) {
  auto job =
      start(run_script({"job", "--ttl", milliseconds(short_ttl)}, "echo $$; exec sleep 1000"));
  const pid_t command = read_pid(job);
  job.pause();
  EXPECT_TRUE(eventually([&] { return gone(command); }));
  EXPECT_EQ(run(run_script({"job"}, "exit 0")).code, 0);
  job.resume();
  EXPECT_EQ(code_of(job), 76);
}

TEST_F(RunLoss, B13_the_command_s_last_beat_is_before_the_next_one_s_first) {
  // Everything is frozen for longer than the TTL: holdfast, guardian and command; then all wake up.
  auto job = start(run_script(
      {"job", "--ttl", milliseconds(short_ttl), "--on-loss", "kill"},
      "echo $$; read -r a b c d group rest </proc/$$/stat; echo $group; exec sleep 1000"));
  const pid_t command = read_pid(job);
  const pid_t group = read_pid(job);
  job.pause();
  ::kill(-group, SIGSTOP);
  auto next = start(run_script({"job"}, "echo mine; read -r line"));
  EXPECT_EQ(next.read_line(), "mine");
  job.resume();
  EXPECT_TRUE(eventually([&] { return gone(command); }));  // stopped first thing
  EXPECT_EQ(code_of(job), 76);
  EXPECT_TRUE(held("job"));  // the other's lease is untouched
}

TEST_F(RunLoss, the_guardian_respects_warn) {
  auto job = start(run_script({"job", "--ttl", milliseconds(short_ttl), "--on-loss", "warn"},
                              "echo $$; read -r line; exit 3"));
  const pid_t command = read_pid(job);
  job.pause();
  EXPECT_EQ(run(run_script({"job"}, "exit 0")).code, 0);  // the lease has run out
  EXPECT_FALSE(gone(command));
  job.resume();
  job.write("go on");
  EXPECT_EQ(code_of(job), 76);
}

TEST_F(RunLoss, short_leases_are_renewed) {
  // Longer than many TTLs, and the guardian never mistakes us for dead.
  auto job = start(
      run_script({"job", "--ttl", milliseconds(short_ttl)}, "echo ready; read -r line; exit 3"));
  ASSERT_EQ(job.read_line(), "ready");
  sleep_until(boot_clock::now() + 4 * short_ttl);
  EXPECT_TRUE(held("job"));
  job.write("go on");
  EXPECT_EQ(code_of(job), 3);
  EXPECT_THAT(errors(), Not(HasSubstr("lost")));
}

TEST_F(RunLoss, the_next_holder_is_told_that_the_one_before_did_not_release) {
  auto job =
      start(run_script({"job", "--ttl", milliseconds(short_ttl)}, "echo ready; exec sleep 1000"));
  ASSERT_EQ(job.read_line(), "ready");
  job.kill();
  const auto next = run(run_script({"job"}, "exit 0"));
  EXPECT_EQ(next.code, 0);
  EXPECT_THAT(next.err, HasSubstr("expired"));
}

}  // namespace
}  // namespace holdfast::test
