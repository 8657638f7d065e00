#include "support/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <system_error>
#include <utility>

extern char** environ;

namespace holdfast::test {
namespace {

[[noreturn]] void fail(const char* what, int error = errno) {
  throw std::system_error(error, std::generic_category(), what);
}

int milliseconds_to(boot_clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - boot_clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

}  // namespace

Process::Process(std::vector<std::string> command, const std::vector<std::string>& environment) {
  int to_child[2];
  int from_child[2];
  if (::pipe2(to_child, O_CLOEXEC) != 0 || ::pipe2(from_child, O_CLOEXEC) != 0) fail("pipe2");
  input_ = to_child[1];
  output_ = from_child[0];

  std::vector<char*> arguments;
  for (auto& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<std::string> added = environment;
  std::vector<char*> variables;
  for (auto& variable : added) variables.push_back(variable.data());
  for (char** variable = environ; *variable; ++variable) variables.push_back(*variable);
  variables.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, to_child[0], 0);
  ::posix_spawn_file_actions_adddup2(&actions, from_child[1], 1);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);  // what the test itself inherited
  const int error = ::posix_spawn(&pid_, arguments.front(), &actions, nullptr, arguments.data(),
                                  variables.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(to_child[0]);
  ::close(from_child[1]);
  if (error != 0) {
    close_pipes();
    fail(command.front().c_str(), error);
  }
  pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (pidfd_ < 0) fail("pidfd_open");
  ::signal(SIGPIPE, SIG_IGN);
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::exchange(other.pidfd_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      buffer_(std::move(other.buffer_)),
      exit_(other.exit_) {}

Process::~Process() {
  if (pid_ > 0 && !exit_) kill();
  close_pipes();
}

void Process::close_pipes() noexcept {
  close_input();
  if (output_ >= 0) ::close(std::exchange(output_, -1));
  if (pidfd_ >= 0) ::close(std::exchange(pidfd_, -1));
}

void Process::close_input() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

void Process::write(const std::string& line) {
  const std::string bytes = line + "\n";
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(input_, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EPIPE) return;  // it is dead: who reads will see
    if (count < 0 && errno != EINTR) fail("write to child");
    if (count > 0) done += static_cast<std::size_t>(count);
  }
}

std::optional<std::string> Process::read_line(std::chrono::milliseconds limit) {
  const auto end = boot_clock::now() + limit;
  for (;;) {
    if (const auto newline = buffer_.find('\n'); newline != std::string::npos) {
      std::string line = buffer_.substr(0, newline);
      buffer_.erase(0, newline + 1);
      return line;
    }
    pollfd ready{output_, POLLIN, 0};
    const int count = ::poll(&ready, 1, milliseconds_to(end));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    char bytes[4096];
    const ssize_t got = ::read(output_, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    buffer_.append(bytes, static_cast<std::size_t>(got));
  }
}

void Process::signal(int number) {
  if (!exit_ && ::kill(pid_, number) != 0) fail("kill");
}

void Process::pause() {
  signal(SIGSTOP);
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WEXITED | WNOWAIT) != 0)
    if (errno != EINTR) fail("waitid");
}

void Process::resume() { signal(SIGCONT); }

void Process::kill() {
  if (exit_ || pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (!wait()) continue;
}

std::optional<Process::Exit> Process::wait(std::chrono::milliseconds limit) {
  const auto end = boot_clock::now() + limit;
  while (!exit_) {
    pollfd ready{pidfd_, POLLIN, 0};
    const int count = ::poll(&ready, 1, milliseconds_to(end));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) != 0) fail("waitid");
    exit_ = Exit{info.si_code != CLD_EXITED, info.si_status};
  }
  return exit_;
}

}  // namespace holdfast::test
