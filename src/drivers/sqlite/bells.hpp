#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id.hpp"
#include "base/result.hpp"
#include "drivers/sqlite/filesystem.hpp"

namespace holdfast::sqlite {

/// An open file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) noexcept : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { close(); }
  [[nodiscard]] int get() const noexcept { return value_; }
  explicit operator bool() const noexcept { return value_ >= 0; }
  void close() noexcept;

 private:
  int value_;
};

/// How the clients of a lock file wake each other: each has a FIFO of its own in the directory
/// `<file>-bells`, and whoever has news for it writes a hint. A FIFO without a reader is a client
/// that is gone, for the kernel closes it however the client ended; nothing else tells so reliably.
///
/// Names carry the number of the file too, so that clients of a file that was deleted or replaced
/// are told apart from those of its successor. Nothing that is read is trusted.
class Bells {
 public:
  static constexpr std::size_t message_bytes = 17;
  /// In place of a hint's kind: the file may have been replaced, look.
  static constexpr char look_at_file = '\xff';

  /// Hangs up this client's bell. Fails where that cannot be done (a file system without FIFOs, a
  /// full disk): the client then lives on its heartbeats, and must have an id that says so.
  [[nodiscard]] static Result<std::unique_ptr<Bells>> open(const std::string& database,
                                                           const FileId& file, const Id& client);
  ~Bells();  ///< takes it down
  Bells(const Bells&) = delete;
  Bells& operator=(const Bells&) = delete;

  /// Readable when there are messages.
  [[nodiscard]] int descriptor() const noexcept { return own_.get(); }
  /// Takes all messages that are there, each message_bytes long; whatever is not is dropped.
  [[nodiscard]] std::vector<std::string> take();

  /// Best effort: a client that is gone or whose FIFO is full does not get it.
  void ring(const Id& client, std::string_view message) noexcept;
  /// False only if the client had a bell and has closed it, or the kernel has.
  [[nodiscard]] bool alive(const Id& client) noexcept;
  /// What alive() found living counts as living until this is called.
  void forget_living() noexcept { ++round_; }
  /// Whether this client's bell still hangs where the others look for it.
  [[nodiscard]] bool in_place() const noexcept;

  /// In a child of fork(2): closes all, so that the bell tells of the parent only.
  void quit_in_child() noexcept;

  /// Ids come in two kinds, told apart by one bit: clients with a bell, and deaf ones.
  [[nodiscard]] static bool deaf(const Id& client) noexcept {
    return (client.bytes[0] & 0x80) != 0;
  }
  static void mark_deaf(Id& client, bool deaf) noexcept {
    client.bytes[0] = static_cast<std::uint8_t>((client.bytes[0] & 0x7f) | (deaf ? 0x80 : 0));
  }

  struct Census {
    std::size_t same = 0;   ///< clients with a bell on this very file
    std::size_t other = 0;  ///< clients with a bell on another file that had this path
  };
  /// Counts the living, removes the bells of the dead, and tells the clients of another file to
  /// look.
  [[nodiscard]] static Census census(const std::string& database,
                                     const std::optional<FileId>& file) noexcept;

 private:
  struct Line {
    Id client;
    Descriptor descriptor;
    std::uint64_t used = 0;
    std::uint64_t living_in = 0;  ///< the round in which it was found living
  };
  Bells() = default;
  /// A descriptor to write to, or nothing and why (errno).
  [[nodiscard]] Line* line(const Id& client, int& why) noexcept;
  [[nodiscard]] std::string name_of(const Id& client) const;

  std::string directory_;
  Descriptor folder_;
  std::uint64_t file_ = 0;
  std::string name_;
  Descriptor own_;
  std::vector<Line> lines_;
  std::uint64_t uses_ = 0, round_ = 1;
};

}  // namespace holdfast::sqlite
