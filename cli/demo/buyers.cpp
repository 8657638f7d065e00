#include "demo/buyers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "demo/buyer.hpp"
#include "message.hpp"

namespace holdfast::cli {
namespace {

/// Away from the numbers that the buyer wants to see them under.
void move_up(Descriptor& descriptor) {
  const int moved = ::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 10);
  if (moved < 0) complain_errno("demo: pipe", errno);
  descriptor = Descriptor(moved);
}

std::string how_it_ended(int status) {
  return WIFSIGNALED(status) ? fmt::format("was killed by signal {}", WTERMSIG(status))
                             : fmt::format("ended with {}", WEXITSTATUS(status));
}

}  // namespace

Buyers::Buyers(const HalfPlan& plan, const sigset_t& signal_mask)
    : plan_(plan),
      signal_mask_(signal_mask),
      events_(Pipe::open()),
      start_(Pipe::open()),
      all_(plan.buyers) {
  move_up(events_.write);
  move_up(start_.read);
  ::fcntl(events_.read.get(), F_SETFL, O_NONBLOCK);
  for (std::size_t buyer = 0; buyer < all_.size(); ++buyer) spawn(buyer);
}

Buyers::~Buyers() {
  for (const auto& one : all_)
    if (one.pid > 0) ::kill(one.pid, SIGKILL);
  for (const auto& one : all_)
    if (one.pid > 0) ::waitpid(one.pid, nullptr, 0);
}

void Buyers::spawn(std::size_t buyer) {
  std::vector<std::string> arguments{"holdfast", "demo-buyer",
                                     "--parent", std::to_string(::getpid()),
                                     "--buyer",  std::to_string(buyer),
                                     "--shop",   plan_.shop,
                                     "--lock",   plan_.lock};
  if (plan_.chaos)
    arguments.insert(arguments.end(), {"--chaos", "--ttl-ms", std::to_string(chaos_ttl.count())});
  // The URL goes through the environment: it may hold a password.
  std::vector<std::string> variables{"HOLDFAST_STORE=" + plan_.store};
  for (char** variable = environ; variable && *variable; ++variable)
    if (std::string_view(*variable).substr(0, 15) != "HOLDFAST_STORE=")
      variables.emplace_back(*variable);
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (auto& text : texts) list.push_back(text.data());
    list.push_back(nullptr);
    return list;
  };

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, events_.write.get(), buyer_events);
  ::posix_spawn_file_actions_adddup2(&files, start_.read.get(), buyer_start);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setsigmask(&attributes, &signal_mask_);
  all_[buyer] = {};
  const int error = ::posix_spawn(&all_[buyer].pid, "/proc/self/exe", &files, &attributes,
                                  pointers(arguments).data(), pointers(variables).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) all_[buyer].pid = -1, complain_errno("demo: buyer process", error);
}

void Buyers::look_after() {
  for (std::size_t buyer = 0; buyer < all_.size(); ++buyer) {
    auto& one = all_[buyer];
    int status = 0;
    if (one.pid <= 0 || ::waitpid(one.pid, &status, WNOHANG) != one.pid) continue;
    const bool killed = one.killed;
    one = {};
    if (killed)
      spawn(buyer);
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      throw Complaint(
          WIFEXITED(status) && WEXITSTATUS(status) == unavailable ? unavailable : failed, "demo",
          fmt::format("buyer {} {}", buyer, how_it_ended(status)), "Its own words stand above");
  }
}

bool Buyers::all_done() const noexcept {
  return std::all_of(all_.begin(), all_.end(), [](const One& one) { return one.pid <= 0; });
}

void Buyers::kill(std::size_t buyer) {
  all_[buyer].killed = true;
  ::kill(all_[buyer].pid, SIGKILL);
}

void Buyers::stop(std::size_t buyer, boot_clock::time_point until) {
  all_[buyer].stopped_until = until;
  ::kill(all_[buyer].pid, SIGSTOP);
}

void Buyers::continue_those_due() {
  const auto now = boot_clock::now();
  for (auto& one : all_)
    if (one.stopped_until && *one.stopped_until <= now) {
      one.stopped_until.reset();
      ::kill(one.pid, SIGCONT);
    }
}

std::optional<boot_clock::time_point> Buyers::next_due() const {
  std::optional<boot_clock::time_point> next;
  for (const auto& one : all_)
    if (one.stopped_until) next = std::min(next.value_or(*one.stopped_until), *one.stopped_until);
  return next;
}

bool Buyers::runs(std::size_t buyer) const noexcept {
  return all_[buyer].pid > 0 && !all_[buyer].stopped_until && !all_[buyer].killed;
}

}  // namespace holdfast::cli
