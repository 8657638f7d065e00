#pragma once

#include <cstdint>
#include <mutex>

namespace holdfast::sqlite {

/// A thing of SQLite that a child of fork(2) inherits, and must get rid of before it opens anything
/// itself. SQLite keeps one table a process of the files that it has open and of the locks on them.
/// The child's copy speaks of locks that the child does not have: what the child opens on top of it
/// is not locked against the parent, who then deletes the write-ahead log that the child writes to.
///
/// So, first, no fork happens while SQLite works: whoever calls SQLite holds `working`, and fork(2)
/// waits for it. Secondly, whoever opens a file calls discard_inherited() before.
class ForkGuarded {
 public:
  std::mutex working;

  ForkGuarded(const ForkGuarded&) = delete;
  ForkGuarded& operator=(const ForkGuarded&) = delete;

  /// Closes what is left of the parent's in this process, if it is a child.
  static void discard_inherited();

 protected:
  ForkGuarded();
  ~ForkGuarded() = default;

  /// Made in the parent of this process.
  [[nodiscard]] bool inherited() const noexcept;

  /// Called first by the destructor of the derived class: from here on the guard does not know it.
  /// No fork happens while the result lives.
  [[nodiscard]] std::unique_lock<std::mutex> leave();

  /// In the child, at once, where next to nothing is allowed: closes descriptors whose being open
  /// says that the parent lives.
  virtual void quit_in_child() noexcept = 0;
  /// In the child, later: closes all, quietly, changing nothing on the disk.
  virtual void discard() noexcept = 0;

 private:
  friend struct ForkHandlers;
  std::uint32_t born_;
  ForkGuarded* next_ = nullptr;
  ForkGuarded* previous_ = nullptr;
};

}  // namespace holdfast::sqlite
