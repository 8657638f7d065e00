#include "run/guardian.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <string>

#include "message.hpp"

namespace holdfast::cli {

Guardian::Guardian() {
  static_assert(std::atomic<std::int64_t>::is_always_lock_free, "shared between processes");
  void* page =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) complain_errno("guardian", errno);
  shared_ = ::new (page) Shared{};
  schedule(boot_clock::time_point::max(), boot_clock::time_point::max());

  auto pipe = Pipe::open();
  group_ = ::fork();
  if (group_ < 0) {
    const int error = errno;
    ::munmap(page, sizeof(Shared));
    complain_errno("guardian: fork", error, "Is the limit of processes reached (ulimit -u)?");
  }
  if (group_ == 0) watch(pipe.read.get(), *shared_);
  ::setpgid(group_, group_);  // as the guardian does: whoever comes first
  leash_ = std::move(pipe.write);
}

Guardian::~Guardian() {
  dismiss();
  ::munmap(shared_, sizeof(Shared));
}

void Guardian::schedule(boot_clock::time_point terminate, boot_clock::time_point kill) noexcept {
  // The later instant first: the guardian must not see an old one together with a new earlier one.
  shared_->kill_at.store(kill.time_since_epoch().count(), std::memory_order_seq_cst);
  shared_->terminate_at.store(terminate.time_since_epoch().count(), std::memory_order_seq_cst);
}

void Guardian::signal_group(int signal) const noexcept {
  if (group_ > 0) ::kill(-group_, signal);
}

bool Guardian::group_has_members() const {
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(::opendir("/proc"), ::closedir);
  if (!processes) return false;
  while (const dirent* entry = ::readdir(processes.get())) {
    const std::string name = entry->d_name;
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file("/proc/" + name + "/stat");
    std::string stat;
    std::getline(file, stat);
    // "pid (program) state parent group …": the program's name may hold anything, also brackets.
    const auto end = stat.rfind(')');
    char state = 0;
    int parent = 0, group = 0;
    if (end == std::string::npos ||
        std::sscanf(stat.c_str() + end + 1, " %c %d %d", &state, &parent, &group) != 3)
      continue;
    if (group == group_ && state != 'Z' && name != std::to_string(group_)) return true;
  }
  return false;
}

void Guardian::dismiss() noexcept {
  if (group_ < 0) return;
  const char word = 'q';
  if (::write(leash_.get(), &word, 1) != 1)
    ::kill(group_, SIGKILL);  // it is dead already, or nearly
  // It may have been stopped with its group, and then it cannot read.
  ::kill(group_, SIGCONT);
  while (::waitpid(group_, nullptr, 0) < 0 && errno == EINTR) continue;
  group_ = -1;
  leash_.close();
}

}  // namespace holdfast::cli
