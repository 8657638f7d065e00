#include "run/command_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/name.hpp"
#include "descriptor.hpp"
#include "message.hpp"

namespace holdfast::cli {
namespace {

/// Where execvp(3) would look. Done here since the child of a program with threads may not
/// allocate.
std::vector<std::string> candidates(const std::string& program) {
  if (program.find('/') != std::string::npos) return {program};
  const char* variable = std::getenv("PATH");
  const std::string path = variable ? variable : "/usr/local/bin:/bin:/usr/bin";
  std::vector<std::string> found;
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find(':', begin), path.size());
    const auto directory = path.substr(begin, end - begin);
    found.push_back((directory.empty() ? "." : directory) + "/" + program);
    begin = end + 1;
  }
  return found;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const auto& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

/// All that the child needs, laid out before the fork.
struct Prepared {
  std::vector<std::string> paths;
  std::vector<char*> arguments;  ///< of the program
  std::vector<char*>
      shell_arguments;  ///< of /bin/sh, for a script without #!; [1] is set in the child
  std::vector<char*> environment;
};

/// In the child: async-signal-safe calls only. Returns errno.
int execute(Prepared& prepared) noexcept {
  int error = ENOENT;
  for (const auto& path : prepared.paths) {
    ::execve(path.c_str(), prepared.arguments.data(), prepared.environment.data());
    if (errno == ENOEXEC) {
      prepared.shell_arguments[1] = const_cast<char*>(path.c_str());
      ::execve("/bin/sh", prepared.shell_arguments.data(), prepared.environment.data());
    }
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) return errno;
    if (errno == EACCES) error = EACCES;  // keep looking, but remember that it was there
  }
  return error;
}

[[noreturn]] void become(const CommandPlan& plan, Prepared& prepared, pid_t parent,
                         int report) noexcept {
  ::setpgid(0, plan.group);
  // Between fork and this line the parent may have died unnoticed; then nobody would ever kill us.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(not_executable);
  if (plan.terminal >= 0)
    ::tcsetpgrp(plan.terminal, plan.group);  // before the program can read from it
  if (plan.ignore_children) ::signal(SIGCHLD, SIG_IGN);
  ::pthread_sigmask(SIG_SETMASK, &plan.signal_mask, nullptr);
  const int error = execute(prepared);
  [[maybe_unused]] const auto written = ::write(report, &error, sizeof error);
  ::_exit(error == ENOENT ? not_found : not_executable);
}

[[noreturn]] void explain(const std::string& program, int error) {
  if (error == ENOENT)
    throw Complaint(not_found, fmt::format("command {}", holdfast::quoted(program)), "not found",
                    program.find('/') == std::string::npos ? "Is it in PATH?" : "");
  throw Complaint(not_executable, fmt::format("command {}", holdfast::quoted(program)),
                  std::strerror(error),
                  error == EACCES ? "Is it a file with execute permission?" : "");
}

}  // namespace

pid_t start_command(const CommandPlan& plan) {
  std::vector<std::string> shell{"sh", ""};
  shell.insert(shell.end(), plan.command.begin() + 1, plan.command.end());
  Prepared prepared{candidates(plan.command.front()), pointers(plan.command), pointers(shell),
                    pointers(plan.environment)};
  auto report = Pipe::open();  // closed by a successful exec
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0)
    complain_errno("command: fork", errno, "Is the limit of processes reached (ulimit -u)?");
  if (child == 0) become(plan, prepared, parent, report.write.get());

  ::setpgid(child, plan.group);  // fails after the exec, and then it has been done
  report.write.close();
  int error = 0;
  ssize_t size = 0;
  while ((size = ::read(report.read.get(), &error, sizeof error)) < 0 && errno == EINTR) continue;
  if (size != sizeof error) return child;
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  explain(plan.command.front(), error);
}

}  // namespace holdfast::cli
