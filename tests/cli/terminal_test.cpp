// `holdfast run` on a terminal: the command can read from it, and Ctrl-C reaches it.

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/tool.hpp"

namespace holdfast::test {
namespace {

/// A session on a pseudo terminal of its own.
class Session {
 public:
  explicit Session(Words command, const std::string& store) {
    std::vector<char*> arguments;
    for (auto& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_ = ::forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (pid_ == 0) {
      ::setenv("HOLDFAST_STORE", store.c_str(), 1);
      ::setenv("PS1", "", 1);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
  }
  ~Session() {
    ::close(terminal_);
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void type(std::string_view text) {
    ASSERT_EQ(::write(terminal_, text.data(), text.size()), ssize_t(text.size()));
  }

  /// Reads until the text was shown; what was shown before is dropped.
  [[nodiscard]] bool shows(const std::string& text) {
    const auto end = boot_clock::now() + patience;
    while (true) {
      if (const auto at = shown_.find(text); at != std::string::npos) {
        shown_.erase(0, at + text.size());
        return true;
      }
      pollfd ready{terminal_, POLLIN, 0};
      char bytes[4096];
      if (boot_clock::now() > end || ::poll(&ready, 1, 100) < 0) return false;
      if (ready.revents == 0) continue;
      const auto size = ::read(terminal_, bytes, sizeof bytes);
      if (size <= 0) return false;
      shown_.append(bytes, static_cast<std::size_t>(size));
    }
  }

  [[nodiscard]] int wait_status() {
    int status = 0;
    EXPECT_TRUE(eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; })) << shown_;
    pid_ = -1;
    return status;
  }

 private:
  int terminal_ = -1;
  pid_t pid_ = -1;
  std::string shown_;
};

class OnATerminal : public Tool {
 protected:
  Words command(Words options, const std::string& script) {
    auto words = run_script(std::move(options), script);
    words.insert(words.begin(), HOLDFAST_CLI_PATH);
    return words;
  }
};

TEST_F(OnATerminal, the_command_reads_from_it) {
  Session session(command({"job"}, "read -r line; echo \"got <$line>\""), url());
  session.type("hello\n");
  EXPECT_TRUE(session.shows("got <hello>"));
  EXPECT_EQ(session.wait_status(), 0);
}

TEST_F(OnATerminal, control_c_ends_the_command_and_us) {
  Session session(command({"job"}, "echo ready; exec sleep 1000"), url());
  ASSERT_TRUE(session.shows("ready"));
  session.type("\x03");
  const int status = session.wait_status();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
  EXPECT_FALSE(held("job"));
}

TEST_F(OnATerminal, control_c_is_the_command_s_to_handle) {
  Session session(
      // Short sleeps: a signal between two commands of a shell waits for the end of the next one.
      command({"job"}, "trap 'echo no; exit 4' INT; echo ready; while :; do sleep 0.1; done"),
      url());
  ASSERT_TRUE(session.shows("ready"));
  session.type("\x03");
  EXPECT_TRUE(session.shows("no"));
  const int status = session.wait_status();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 4) << status;
}

TEST_F(OnATerminal, control_z_stops_both_and_fg_continues_both) {
  Session session({"/bin/bash", "--norc", "--noediting", "-i"}, url());
  session.type(std::string(HOLDFAST_CLI_PATH) +
               " run job -- sh -c 'echo rea\"\"dy; read -r x; echo \"<$x>\"'\n");
  ASSERT_TRUE(session.shows("ready"));
  session.type("\x1a");
  ASSERT_TRUE(session.shows("Stopped"));
  session.type("echo at the pro\"\"mpt\n");
  ASSERT_TRUE(session.shows("at the prompt"));
  EXPECT_TRUE(held("job"));
  session.type("fg\n");
  session.type("go on\n");
  EXPECT_TRUE(session.shows("<go on>"));
  session.type("echo code $?\n");
  EXPECT_TRUE(session.shows("code 0"));
}

TEST_F(OnATerminal, in_a_pipeline_the_reader_keeps_the_terminal) {
  Session session({"/bin/bash", "--norc", "--noediting", "-i"}, url());
  session.type(
      std::string(HOLDFAST_CLI_PATH) +
      " run job -- echo from the command | (read -r a; read -r b </dev/tty; echo \"<$a, $b>\")\n");
  session.type("from the terminal\n");
  EXPECT_TRUE(session.shows("<from the command, from the terminal>"));
}

TEST_F(OnATerminal, in_a_pipeline_a_command_that_asks_gets_the_terminal) {
  Session session({"/bin/bash", "--norc", "--noediting", "-i"}, url());
  session.type(std::string(HOLDFAST_CLI_PATH) +
               " run job -- sh -c 'read -r a </dev/tty; echo \"<$a>\"' | cat\n");
  session.type("from the terminal\n");
  EXPECT_TRUE(session.shows("<from the terminal>"));
}

}  // namespace
}  // namespace holdfast::test
