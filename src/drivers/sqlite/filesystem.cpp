#include "drivers/sqlite/filesystem.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <vector>

namespace holdfast::sqlite {
namespace {

std::string reason(int system) { return std::generic_category().message(system); }

Failure unfit(errc code, const std::string& path, const std::string& words) {
  return {code, "sqlite " + path + ": " + words};
}

std::optional<std::string> resolved(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), ::free);
  return real ? std::optional<std::string>(real.get()) : std::nullopt;
}

std::string user() { return "user " + std::to_string(::geteuid()); }

struct Magic {
  std::uint64_t magic;
  const char* name;
};
// See statfs(2); most are in no header.
constexpr std::array network_magics{
    Magic{0x6969, "nfs"},          Magic{0x517B, "smb"},        Magic{0xFF534D42, "cifs"},
    Magic{0xFE534D42, "smb2"},     Magic{0x01021997, "9p"},     Magic{0x6a656a63, "virtiofs"},
    Magic{0x00C36400, "ceph"},     Magic{0x5346414F, "afs"},    Magic{0x6B414653, "afs"},
    Magic{0x01161970, "gfs2"},     Magic{0x7461636F, "ocfs2"},  Magic{0x0BD00BD0, "lustre"},
    Magic{0x73757245, "coda"},     Magic{0x786f4256, "vboxsf"}, Magic{0xbacbacbc, "vmhgfs"},
    Magic{0xaad7aaea, "panfs"},    Magic{0x47504653, "gpfs"},   Magic{0x19830326, "fhgfs"},
    Magic{0x20030528, "orangefs"}, Magic{0x7c7c6673, "prl_fs"}, Magic{0x564c, "ncp"},
};

// Types that come as FUSE, or that a kernel module of their own brings along.
constexpr std::array<std::string_view, 43> network_types{
    "nfs",        "nfs4",      "smb3",      "cifs",      "smbfs",         "9p",        "virtiofs",
    "ceph",       "afs",       "gfs2",      "ocfs2",     "lustre",        "beegfs",    "gpfs",
    "orangefs",   "pvfs2",     "glusterfs", "ceph-fuse", "sshfs",         "s3fs",      "s3ql",
    "gcsfuse",    "goofys",    "rclone",    "juicefs",   "seaweedfs",     "mfs",       "moosefs",
    "lizardfs",   "saunafs",   "cvmfs",     "davfs",     "davfs2",        "curlftpfs", "smbnetfs",
    "blobfuse",   "blobfuse2", "geesefs",   "mount-s3",  "mountpoint-s3", "grpcfuse",  "osxfs",
    "vmhgfs-fuse"};

std::string unescaped(std::string_view text) {
  const auto digit = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && digit(text[i + 1]) && digit(text[i + 2]) &&
        digit(text[i + 3])) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    if (end > at) words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::optional<Failure> check_directory(const std::string& path, const std::string& directory) {
  struct stat status{};
  if (::stat(directory.c_str(), &status) != 0) {
    if (errno == ENOENT)
      return unfit(errc::denied, path,
                   "the directory " + directory + " does not exist; make it first (mkdir -p)");
    return unfit(errc::denied, path,
                 "cannot look at the directory " + directory + ": " + reason(errno));
  }
  if (!S_ISDIR(status.st_mode)) return unfit(errc::denied, path, directory + " is not a directory");
  if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    const std::string who = errno == EROFS
                                ? "its file system is read-only"
                                : user() + " may not write there (" + reason(errno) + ")";
    return unfit(errc::denied, path,
                 "the directory " + directory +
                     " must be writable, since SQLite and Holdfast keep "
                     "files beside the lock file: " +
                     who);
  }
  return std::nullopt;
}

std::optional<Failure> check_file(const std::string& path, const struct stat& status) {
  if (!S_ISREG(status.st_mode))
    return unfit(errc::misconfigured, path, "this is not a regular file; nothing was changed");
  if (status.st_nlink > 1)
    return unfit(errc::misconfigured, path,
                 "the file has " + std::to_string(status.st_nlink) +
                     " names (hard links). SQLite keeps its log beside the name, so programs that "
                     "use different names would not see each other; keep one name");
  for (const char* companion : {"", "-wal", "-shm"}) {
    const std::string name = path + companion;
    if (::faccessat(AT_FDCWD, name.c_str(), R_OK | W_OK, AT_EACCESS) == 0 || errno == ENOENT)
      continue;
    if (errno == EROFS)
      return unfit(errc::denied, path,
                   "the file system is read-only; remount it, or choose another place");
    return unfit(errc::denied, path,
                 user() + " may not read and write " + name + " (" + reason(errno) +
                     "); give all users of the lock file a common group and mode 0660");
  }
  return std::nullopt;
}

}  // namespace

std::optional<FileId> file_id(const std::string& path) noexcept {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

FileSystem read_mounts(std::string_view mountinfo, std::uint64_t device, std::string_view path) {
  FileSystem found;
  const std::string wanted = std::to_string(major(device)) + ":" + std::to_string(minor(device));
  while (!mountinfo.empty()) {
    const std::size_t end = std::min(mountinfo.find('\n'), mountinfo.size());
    const auto words = words_of(mountinfo.substr(0, end));
    mountinfo.remove_prefix(std::min(end + 1, mountinfo.size()));
    // id parent major:minor root mount-point options [optional …] - type source options
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 7 || std::distance(dash, words.end()) < 2) continue;
    if (words[2] == wanted) found.type = unescaped(dash[1]);
    if (unescaped(words[4]) == path) found.mount_point = true;
  }
  return found;
}

FileSystem probe_file_system(const std::string& directory, const std::string& path) {
  FileSystem found;
  struct stat status{};
  if (::stat(directory.c_str(), &status) == 0) {
    std::ifstream file("/proc/self/mountinfo");
    const std::string mounts{std::istreambuf_iterator<char>(file), {}};
    found = read_mounts(mounts, status.st_dev, path);
  }
  struct statfs information{};
  // The type of f_type differs between architectures, and some extend its sign.
  if (::statfs(directory.c_str(), &information) == 0)
    found.magic = static_cast<std::uint32_t>(information.f_type);
  return found;
}

std::optional<std::string> network_type(const FileSystem& file_system) {
  for (const Magic& known : network_magics)
    if (known.magic == file_system.magic) return known.name;
  std::string_view type = file_system.type;
  for (const std::string_view prefix : {"fuse.", "fuseblk."})
    if (type.starts_with(prefix)) type.remove_prefix(prefix.size());
  if (std::find(network_types.begin(), network_types.end(), type) != network_types.end())
    return std::string(type);
  return std::nullopt;
}

Result<Place> find_place(const std::string& path, const FileSystemProbe& probe) {
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const std::string folder = slash == std::string::npos ? "."
                             : slash == 0               ? "/"
                                                        : path.substr(0, slash);
  if (name.empty() || name == "." || name == "..")
    return unfit(errc::misconfigured, path,
                 "this names a directory; add a file name such as locks.db");

  Place place{path, false};
  struct stat status{};
  place.exists = ::stat(path.c_str(), &status) == 0;
  if (!place.exists && errno != ENOENT)
    return unfit(errc::denied, path, "cannot look at the file: " + reason(errno));
  std::optional<std::string> real = resolved(place.exists ? path : folder);
  if (!real) {
    if (auto failure = check_directory(path, folder)) return *failure;
    return unfit(errc::denied, path, "cannot follow the path: " + reason(errno));
  }
  place.path = place.exists ? *real : (*real == "/" ? "/" : *real + "/") + name;
  struct stat link{};
  if (!place.exists && ::lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode))
    return unfit(errc::misconfigured, path, "this is a symbolic link that leads nowhere");

  const std::string directory =
      place.path.substr(0, std::max<std::size_t>(place.path.rfind('/'), 1));
  if (auto failure = check_directory(place.path, directory)) return *failure;
  if (place.exists)
    if (auto failure = check_file(place.path, status)) return *failure;

  const FileSystem file_system = probe(directory, place.path);
  if (const auto network = network_type(file_system))
    return unfit(
        errc::misconfigured, place.path,
        "the file system is " + *network +
            ", which other machines can reach while their locks cannot: two machines could "
            "hold the same lease. Put the file on a local disk, or use a store that is made "
            "for several machines (redis://, etcd:// …)");
  if (file_system.mount_point)
    return unfit(
        errc::misconfigured, place.path,
        "the file is mounted alone (a bind mount of one file), so that the log beside it is "
        "not shared; mount its whole directory instead");
  return place;
}

std::optional<Failure> make_file(const std::string& path) {
  if (::mknod(path.c_str(), S_IFREG | 0666, 0) == 0 || errno == EEXIST) return std::nullopt;
  const errc code = errno == ENOSPC || errno == EDQUOT ? errc::unavailable : errc::denied;
  return unfit(code, path, "cannot make the file: " + reason(errno));
}

}  // namespace holdfast::sqlite
