#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

// Nothing here ever opens the database file: closing any descriptor of a file drops all POSIX locks
// that this process has on it, those of SQLite included.

namespace holdfast::sqlite {

/// Which file a path leads to. The number of a file that someone has open is not given to another.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileId&) const = default;
};

/// Nothing if there is no such file.
[[nodiscard]] std::optional<FileId> file_id(const std::string& path) noexcept;

/// Where a path lives, as the kernel says.
struct FileSystem {
  std::uint64_t magic = 0;  ///< statfs(2)
  std::string type;  ///< as in /proc/self/mountinfo, "ext4", "fuse.sshfs"; empty if not found
  bool mount_point = false;  ///< the path itself is one
};
using FileSystemProbe =
    std::function<FileSystem(const std::string& directory, const std::string& path)>;
[[nodiscard]] FileSystem probe_file_system(const std::string& directory, const std::string& path);

/// The lines of /proc/self/mountinfo that matter: the type of the file system with this device, and
/// whether something is mounted at exactly `path`.
[[nodiscard]] FileSystem read_mounts(std::string_view mountinfo, std::uint64_t device,
                                     std::string_view path);

/// The name of a file system that other machines can reach too, or nothing: there, locks and shared
/// memory do not reach the other machines, and two of them could hold the same lease.
[[nodiscard]] std::optional<std::string> network_type(const FileSystem& file_system);

/// A lock file's place, fit for use. `path` is absolute, without symbolic links.
struct Place {
  std::string path;
  bool exists = false;
};

/// Looks at everything that makes a path unfit: no directory, no permission, not a regular file,
/// other hard links, a file mounted alone, a network file system. Changes nothing.
[[nodiscard]] Result<Place> find_place(const std::string& path, const FileSystemProbe& probe);

/// Makes an empty file with the mode that umask leaves of 0666, without opening it. An existing
/// file stays as it is.
[[nodiscard]] std::optional<Failure> make_file(const std::string& path);

}  // namespace holdfast::sqlite
