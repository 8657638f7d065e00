#include "drivers/sqlite/bells.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <system_error>

namespace holdfast::sqlite {
namespace {

constexpr std::size_t max_lines = 64;
constexpr int unfinished_after_s = 60;  // a bell that was never hung up: its client died half way
constexpr std::string_view unfinished = ".new.";

std::string bells_directory(const std::string& database) { return database + "-bells"; }

int open_bell(int folder, const std::string& name) noexcept {
  // O_WRONLY fails with ENXIO when no one reads. (O_RDWR would not fail, and worse, would make this
  // process a reader by whom a dead client looks alive.)
  const int descriptor =
      ::openat(folder, name.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return descriptor;
  struct stat status{};
  if (::fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode)) return descriptor;
  ::close(descriptor);
  errno = EINVAL;
  return -1;
}

/// Writes without SIGPIPE, which a FIFO whose reader has just gone raises and no flag prevents: the
/// signal is blocked meanwhile in this thread, and taken away if it was this write that raised it.
void write_quietly(int descriptor, std::string_view message) noexcept {
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigemptyset(&pending);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  if (pthread_sigmask(SIG_BLOCK, &pipe, &before) != 0) return;
  const ssize_t written = ::write(descriptor, message.data(), message.size());
  if (written < 0 && errno == EPIPE && !was_pending) {
    constexpr timespec no_time{};
    while (sigtimedwait(&pipe, nullptr, &no_time) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// Who may use the lock file may use its bells.
mode_t folder_mode(mode_t file) noexcept {
  mode_t mode = 0;
  for (const unsigned shift : {0u, 3u, 6u})
    if (const mode_t bits = (file >> shift) & 06; bits != 0) mode |= (bits | 01) << shift;
  return mode;
}

Failure cannot(const std::string& directory, const char* doing, int system) {
  return {errc::unavailable, "sqlite " + directory + ": cannot " + doing + ": " +
                                 std::generic_category().message(system)};
}

/// Gives a new file or directory the group of the lock file, and for root its owner. Best effort.
void follow_owner(int folder, const std::string& name, const struct stat& file) noexcept {
  const uid_t owner = ::geteuid() == 0 ? file.st_uid : static_cast<uid_t>(-1);
  [[maybe_unused]] const int ignored =
      ::fchownat(folder, name.c_str(), owner, file.st_gid, AT_SYMLINK_NOFOLLOW);
}

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

}  // namespace

void Descriptor::close() noexcept {
  if (value_ >= 0) ::close(std::exchange(value_, -1));
}

Result<std::unique_ptr<Bells>> Bells::open(const std::string& database, const FileId& file,
                                           const Id& client) {
  std::unique_ptr<Bells> bells(new Bells);
  bells->directory_ = bells_directory(database);
  bells->file_ = file.inode;
  bells->name_ = bells->name_of(client);
  const std::string& directory = bells->directory_;
  struct stat model{};
  if (::stat(database.c_str(), &model) != 0) return cannot(database, "look at the file", errno);

  int why = 0;
  for (int attempt = 0; attempt < 10; ++attempt) {  // another client may remove it when it is empty
    if (::mkdir(directory.c_str(), 0700) == 0) {
      follow_owner(AT_FDCWD, directory, model);
      ::chmod(directory.c_str(), folder_mode(model.st_mode));
    } else if (errno != EEXIST) {
      return cannot(directory, "make the directory", errno);
    }
    bells->folder_ =
        Descriptor(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    why = errno;
    if (!bells->folder_ && why == ENOENT) continue;
    if (!bells->folder_) return cannot(directory, "open the directory", why);

    // Nobody may see it before it has a reader, or it would count as dead.
    const int folder = bells->folder_.get();
    const std::string draft = std::string(unfinished) + client.hex();
    if (::mkfifoat(folder, draft.c_str(), 0600) != 0) {
      why = errno;
      if (why == ENOENT) continue;
      return cannot(directory, "make a FIFO", why);
    }
    bells->own_ =
        Descriptor(::openat(folder, draft.c_str(), O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    why = errno;
    if (bells->own_) {
      follow_owner(folder, draft, model);
      ::fchmod(bells->own_.get(), model.st_mode & 0666);
      if (::renameat(folder, draft.c_str(), folder, bells->name_.c_str()) == 0) return bells;
      why = errno;
    }
    ::unlinkat(folder, draft.c_str(), 0);
    bells->own_ = Descriptor();
    break;
  }
  return cannot(directory, "hang up a bell", why);
}

void Bells::quit_in_child() noexcept {
  own_.close();
  folder_.close();
  for (Line& each : lines_) each.descriptor.close();
}

Bells::~Bells() {
  if (!own_) return;
  ::unlinkat(folder_.get(), name_.c_str(), 0);
  ::rmdir(directory_.c_str());  // succeeds for the last one
}

std::vector<std::string> Bells::take() {
  std::vector<std::string> messages;
  // Writes of a hint are atomic, so what is there is a whole number of messages, and each full read
  // takes a whole number. Anything else is somebody's rubbish and goes with the read that met it.
  char buffer[message_bytes * 240];
  for (int reads = 0; reads < 256; ++reads) {
    const ssize_t got = ::read(own_.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    const auto size = static_cast<std::size_t>(got);
    for (std::size_t at = 0; at + message_bytes <= size; at += message_bytes)
      messages.emplace_back(buffer + at, message_bytes);
  }
  std::sort(messages.begin(), messages.end());
  messages.erase(std::unique(messages.begin(), messages.end()), messages.end());
  return messages;
}

std::string Bells::name_of(const Id& client) const {
  char number[20];
  const auto end = std::to_chars(number, number + sizeof number, file_, 16).ptr;
  return std::string(number, end) + "." + client.hex();
}

Bells::Line* Bells::line(const Id& client, int& why) noexcept try {
  for (Line& known : lines_) {
    if (known.client != client) continue;
    known.used = ++uses_;
    return &known;
  }
  Descriptor descriptor(open_bell(folder_.get(), name_of(client)));
  if (!descriptor) {
    why = errno;
    return nullptr;
  }
  if (lines_.size() < max_lines)
    return &lines_.emplace_back(client, std::move(descriptor), ++uses_, 0U);
  Line& oldest = *std::min_element(lines_.begin(), lines_.end(),
                                   [](const Line& a, const Line& b) { return a.used < b.used; });
  oldest = Line{client, std::move(descriptor), ++uses_, 0};
  return &oldest;
} catch (...) {
  why = ENOMEM;
  return nullptr;
}

void Bells::ring(const Id& client, std::string_view message) noexcept {
  int why = 0;
  if (deaf(client)) return;
  if (const Line* to = line(client, why)) write_quietly(to->descriptor.get(), message);
}

bool Bells::alive(const Id& client) noexcept {
  if (deaf(client)) return true;
  int why = 0;
  if (Line* to = line(client, why)) {
    if (std::exchange(to->living_in, round_) == round_) return true;
    pollfd state{to->descriptor.get(), POLLOUT, 0};
    if (::poll(&state, 1, 0) <= 0 || (state.revents & POLLERR) == 0) return true;
    std::erase_if(lines_, [&](const Line& each) { return each.client == client; });
    return false;
  }
  if (why == ENXIO) return false;
  // Gone with its bell taken down; unless somebody took all of them down.
  return !(why == ENOENT && in_place());
}

bool Bells::in_place() const noexcept {
  struct stat own{}, there{};
  return ::fstat(own_.get(), &own) == 0 &&
         ::stat((directory_ + "/" + name_).c_str(), &there) == 0 && own.st_ino == there.st_ino &&
         own.st_dev == there.st_dev;
}

Bells::Census Bells::census(const std::string& database, const std::optional<FileId>& file) noexcept
    try {
  Census census;
  const int folder =
      ::open(bells_directory(database).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return census;
  const std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(folder));
  if (!directory) {
    ::close(folder);
    return census;
  }
  std::string look(message_bytes, '\0');
  look[0] = look_at_file;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (name.starts_with(unfinished)) {
      struct stat status{};
      if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
          status.st_ctime + unfinished_after_s < std::time(nullptr))
        ::unlinkat(folder, name.c_str(), 0);
      continue;
    }
    const std::size_t dot = name.find('.');
    std::uint64_t inode = 0;
    const char* const end = name.data() + std::min(dot, name.size());
    if (dot == std::string::npos || name.size() != dot + 33 ||
        std::from_chars(name.data(), end, inode, 16).ptr != end)
      continue;
    const Descriptor bell(open_bell(folder, name));
    if (!bell) {
      if (errno == ENXIO) ::unlinkat(folder, name.c_str(), 0);
      continue;
    }
    const bool ours = file && file->inode == inode;
    ++(ours ? census.same : census.other);
    if (!ours) write_quietly(bell.get(), look);
  }
  return census;
} catch (...) {
  return {};
}

}  // namespace holdfast::sqlite
