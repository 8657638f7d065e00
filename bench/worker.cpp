#include "worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <type_traits>

namespace holdfast::bench {

namespace {

static_assert(std::is_trivially_copyable_v<Hold> && std::is_trivially_copyable_v<Answer::Figures>);

[[noreturn]] void fail(const char* doing, int error = errno) {
  throw std::system_error(error, std::generic_category(), doing);
}

void write_all(int to, const void* bytes, std::size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t done = ::write(to, at, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("write to a pipe");
    at += done;
    size -= static_cast<std::size_t>(done);
  }
}

}  // namespace

Worker::Worker(const std::vector<std::string>& role) : name_(role.front()) {
  int in[2];
  int out[2];
  if (::pipe2(in, O_CLOEXEC) != 0) fail("pipe2");
  to_ = in[1];
  if (::pipe2(out, O_CLOEXEC) != 0) fail("pipe2");
  from_ = out[0];

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  std::string program = "/proc/self/exe";
  std::string mark = worker_mark;
  std::vector<std::string> words = role;
  std::vector<char*> arguments{program.data(), mark.data()};
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int error =
      ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  if (error != 0) fail("start a worker", error);
  static_cast<void>(answer());  // it is ready
}

Worker::~Worker() {
  ::close(to_);
  ::close(from_);
  if (pid_ < 0) return;
  const Instant until = boot_clock::now() + std::chrono::seconds(10);
  while (::waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (boot_clock::now() > until) ::kill(pid_, SIGKILL);
    ::usleep(1000);
  }
}

void Worker::tell(const std::string& line) {
  const std::string bytes = line + "\n";
  write_all(to_, bytes.data(), bytes.size());
}

Answer Worker::answer(Duration limit) {
  const Instant until = boot_clock::now() + limit;
  Answer answer;
  std::uint64_t holds = 0;
  read(&answer.figures, sizeof answer.figures, until);
  read(&holds, sizeof holds, until);
  answer.holds.resize(holds);
  read(answer.holds.data(), holds * sizeof(Hold), until);
  return answer;
}

void Worker::read(void* to, std::size_t size, Instant until) {
  char* at = static_cast<char*>(to);
  while (size > 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - boot_clock::now());
    pollfd ready{from_, POLLIN, 0};
    const int polled = ::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (polled < 0 && errno == EINTR) continue;
    if (polled < 0) fail("poll");
    if (polled == 0)
      throw std::runtime_error(fmt::format("the worker '{}' does not answer", name_));
    const ssize_t got = ::read(from_, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw std::runtime_error(fmt::format("the worker '{}' has ended", name_));
    at += got;
    size -= static_cast<std::size_t>(got);
  }
}

bool next_order(std::string& line) { return static_cast<bool>(std::getline(std::cin, line)); }

void give(const Answer& answer) {
  const std::uint64_t holds = answer.holds.size();
  write_all(STDOUT_FILENO, &answer.figures, sizeof answer.figures);
  write_all(STDOUT_FILENO, &holds, sizeof holds);
  write_all(STDOUT_FILENO, answer.holds.data(), holds * sizeof(Hold));
}

}  // namespace holdfast::bench
