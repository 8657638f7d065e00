#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstring>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drivers/sqlite/filesystem.hpp"
#include "unit/sqlite_fixture.hpp"

namespace holdfast::test {
namespace {

using std::filesystem::perms;
using testing::AllOf;
using testing::HasSubstr;

MATCHER_P2(Refuses, code, words, "") {
  *result_listener << "code " << static_cast<int>(arg.code) << ": " << arg.words;
  return arg.code == code && arg.words.find(words) != std::string::npos;
}

class SqliteRefusals : public testing::Test {
 protected:
  void make() const { static_cast<void>(open_store(path_)); }
  /// Neither it nor anything beside it has changed.
  void expect_untouched(const std::string& before) const {
    EXPECT_EQ(contents(path_), before);
    EXPECT_FALSE(std::filesystem::exists(path_ + "-bells"));
    EXPECT_FALSE(std::filesystem::exists(path_ + "-wal"));
  }

  Scratch scratch_;
  std::string path_ = path_of(scratch_);
};

TEST_F(SqliteRefusals, MissingDirectory) {
  EXPECT_THAT(refusal(scratch_.file("no/such/locks.db")),
              Refuses(errc::denied, "no/such does not exist"));
  std::ofstream(scratch_.file("file")) << "x";
  EXPECT_THAT(refusal(scratch_.file("file/locks.db")), Refuses(errc::denied, "file"));
}

TEST_F(SqliteRefusals, WhatIsNoPlainFile) {
  EXPECT_THAT(refusal(scratch_.path().string()),
              Refuses(errc::misconfigured, "not a regular file"));
  EXPECT_THAT(refusal(scratch_.path().string() + "/"),
              Refuses(errc::misconfigured, "names a directory"));
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(refusal(path_), Refuses(errc::misconfigured, "not a regular file"));
  const std::string link = scratch_.file("link.db");
  std::filesystem::create_symlink(scratch_.file("nowhere.db"), link);
  EXPECT_THAT(refusal(link), Refuses(errc::misconfigured, "leads nowhere"));
}

TEST_F(SqliteRefusals, ASymbolicLinkIsTheSameFile) {
  auto store = open_store(path_);
  hold(*store, "a");
  const std::string link = scratch_.file("link.db");
  std::filesystem::create_symlink(path_, link);
  auto through = open_store(link);
  EXPECT_EQ(look(*through, "a").holders.size(), 1U);
  EXPECT_TRUE(through->alive(store->client()));
}

TEST_F(SqliteRefusals, SeveralNames) {
  make();
  std::filesystem::create_hard_link(path_, scratch_.file("second.db"));
  EXPECT_THAT(refusal(path_), Refuses(errc::misconfigured, "hard links"));
}

TEST_F(SqliteRefusals, AFileMountedAlone) {
  sqlite::Settings settings = settings_for(path_);
  settings.probe = [](const std::string&, const std::string&) {
    return sqlite::FileSystem{.magic = 0xEF53, .type = "ext4", .mount_point = true};
  };
  EXPECT_THAT(refusal(settings), Refuses(errc::misconfigured, "mounted alone"));
}

TEST_F(SqliteRefusals, NetworkFileSystems) {
  sqlite::Settings settings = settings_for(path_);
  const auto living_on = [&](std::uint64_t magic, const char* type) {
    settings.probe = [=](const std::string&, const std::string&) {
      return sqlite::FileSystem{.magic = magic, .type = type, .mount_point = false};
    };
    return refusal(settings);
  };
  EXPECT_THAT(living_on(0x6969, "nfs4"), Refuses(errc::misconfigured, "file system is nfs"));
  EXPECT_THAT(living_on(0xFE534D42, "cifs"), Refuses(errc::misconfigured, "smb2"));
  EXPECT_THAT(living_on(0x01021997, "9p"), Refuses(errc::misconfigured, "9p"));
  EXPECT_THAT(living_on(0x65735546, "fuse.sshfs"), Refuses(errc::misconfigured, "sshfs"));
  EXPECT_THAT(living_on(0x65735546, "fuse.glusterfs"),
              Refuses(errc::misconfigured, "two machines could hold the same lease"));
  EXPECT_FALSE(std::filesystem::exists(path_)) << "nothing is made there";
  EXPECT_EQ(living_on(0x65735546, "fuse.fuse-overlayfs").words, "it opens");
  EXPECT_EQ(living_on(0xEF53, "ext4").words, "it opens");
}

TEST(SqliteFileSystem, ReadsTheTableOfMounts) {
  constexpr std::string_view mounts =
      "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
      "30 22 0:44 / /mnt/a\\040b rw,nosuid shared:7 master:1 - fuse.sshfs host:/x rw,user_id=0\n"
      "bad line\n"
      "31 22 254:0 /x /srv/locks.db rw - ext4 /dev/root rw";
  EXPECT_EQ(sqlite::read_mounts(mounts, makedev(0, 44), "/y").type, "fuse.sshfs");
  EXPECT_EQ(sqlite::read_mounts(mounts, makedev(254, 0), "/y").type, "ext4");
  EXPECT_EQ(sqlite::read_mounts(mounts, makedev(9, 9), "/y").type, "");
  EXPECT_TRUE(sqlite::read_mounts(mounts, makedev(254, 0), "/srv/locks.db").mount_point);
  EXPECT_TRUE(sqlite::read_mounts(mounts, makedev(254, 0), "/mnt/a b").mount_point);
  EXPECT_FALSE(sqlite::read_mounts(mounts, makedev(254, 0), "/srv").mount_point);
}

// Contents

TEST_F(SqliteRefusals, WhatIsNoDatabase) {
  std::ofstream(path_) << std::string(10'000, 'x');
  const std::string before = contents(path_);
  EXPECT_THAT(refusal(path_), Refuses(errc::misconfigured, "not a database"));
  EXPECT_THAT(refusal(path_), Refuses(errc::misconfigured, path_));
  expect_untouched(before);
}

TEST_F(SqliteRefusals, ADamagedHeader) {
  make();
  std::string bytes = contents(path_);
  for (std::size_t i = 0; i < 16; ++i) bytes[i] = static_cast<char>(~bytes[i]);
  std::ofstream(path_, std::ios::binary) << bytes;
  EXPECT_THAT(refusal(path_), Refuses(errc::misconfigured, "damaged"));
  expect_untouched(bytes);
}

TEST_F(SqliteRefusals, FlippedBytesAnywhereNeverCrashAndAreToldInWords) {
  {
    auto store = open_store(path_);
    for (int i = 0; i < 200; ++i) hold(*store, "name " + std::to_string(i));
  }
  const std::string good = contents(path_);
  int refused = 0, noticed = 0;
  for (std::size_t at = 16; at < good.size(); at += good.size() / 97) {
    std::string bytes = good;
    for (std::size_t i = at; i < std::min(at + 64, bytes.size()); ++i)
      bytes[i] = static_cast<char>(bytes[i] ^ 0x5a);
    std::ofstream(path_, std::ios::binary) << bytes;
    try {
      auto store = open_store(path_);
      for (int i = 0; i < 200; ++i) static_cast<void>(look(*store, "name " + std::to_string(i)));
    } catch (const Error& error) {
      ++(contents(path_) == bytes ? refused : noticed);
      EXPECT_EQ(error.code(), errc::misconfigured) << error.what() << " at " << at;
    }
  }
  EXPECT_GT(refused + noticed, 20);
}

TEST_F(SqliteRefusals, ADamagedRecordIsToldToWhoAsksForItAlone) {
  auto store = open_store(path_);
  hold(*store, "good");
  hold(*store, "bad");
  sql(path_, "UPDATE holdfast_resource SET record = x'ff00' WHERE name = 'bad'");
  try {
    static_cast<void>(look(*store, "bad"));
    FAIL() << "it reads";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::misconfigured);
    EXPECT_THAT(error.words(), AllOf(HasSubstr("bad"), HasSubstr("damaged"), HasSubstr(path_)));
  }
  EXPECT_EQ(look(*store, "good").holders.size(), 1U);
  EXPECT_EQ(hold(*store, "good"), Committed::yes);
}

TEST_F(SqliteRefusals, TheDatabaseOfAnotherProgram) {
  sql(path_, "CREATE TABLE orders (id); INSERT INTO orders VALUES (1)");
  const std::string before = contents(path_);
  EXPECT_THAT(refusal(path_), Refuses(errc::misconfigured, "of another program"));
  expect_untouched(before);
  EXPECT_EQ(sql(path_, "PRAGMA journal_mode"), "delete");
}

TEST_F(SqliteRefusals, ALogOfAnotherProgramStaysToo) {
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &raw), SQLITE_OK);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  ASSERT_EQ(sqlite3_exec(raw, "PRAGMA journal_mode = WAL; CREATE TABLE orders (id)", nullptr,
                         nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(raw);
  const std::string before = contents(path_), log = contents(path_ + "-wal");
  EXPECT_THAT(refusal(path_), Refuses(errc::misconfigured, "of another program"));
  EXPECT_EQ(contents(path_), before);
  EXPECT_EQ(contents(path_ + "-wal"), log);
}

TEST_F(SqliteRefusals, ANewerFormat) {
  make();
  sql(path_, "PRAGMA user_version = 2");
  EXPECT_THAT(
      refusal(path_),
      Refuses(errc::misconfigured, "written by a newer Holdfast (format 2, this build knows 1)"));
  EXPECT_EQ(sql(path_, "PRAGMA user_version"), "2");
}

TEST_F(SqliteRefusals, MissingTables) {
  make();
  sql(path_, "DROP TABLE holdfast_resource");
  EXPECT_THAT(refusal(path_), Refuses(errc::misconfigured, "not as Holdfast made them"));
}

TEST_F(SqliteRefusals, AFileThatSomebodyKeepsLocked) {
  make();
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite::Settings settings = settings_for(path_);
  settings.patience = std::chrono::milliseconds(100);
  settings.machine.boot = "another";  // so that opening must write
  EXPECT_THAT(refusal(settings), Refuses(errc::unavailable, "another process is writing"));
  sqlite3_exec(raw, "COMMIT", nullptr, nullptr, nullptr);
  EXPECT_EQ(refusal(settings).words, "it opens");
  sqlite3_close(raw);
}

// Permissions. As root, in a child that becomes nobody.

class SqlitePermissions : public SqliteRefusals {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
    std::filesystem::permissions(scratch_.path(), perms::all);
  }
  /// The words with which it is refused to nobody; the code must be `denied`.
  std::string denied_to_nobody() const {
    return in_child([this]() -> std::string {
      if (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0)
        return "cannot become nobody";
      const Failure why = refusal(path_);
      return (why.code == errc::denied ? "denied: " : "not denied: ") + why.words;
    });
  }
};

TEST_F(SqlitePermissions, FileOfSomebodyElse) {
  make();
  std::filesystem::permissions(path_, perms(0644));
  EXPECT_THAT(denied_to_nobody(), AllOf(HasSubstr("denied: "), HasSubstr("user 65534 may not"),
                                        HasSubstr("Permission denied"), HasSubstr("0660")));
  std::filesystem::permissions(path_, perms(0600));
  EXPECT_THAT(denied_to_nobody(), HasSubstr("may not read and write"));
}

TEST_F(SqlitePermissions, DirectoryOfSomebodyElse) {
  make();
  std::filesystem::permissions(path_, perms(0666));
  std::filesystem::permissions(scratch_.path(), perms(0755));
  EXPECT_THAT(denied_to_nobody(), AllOf(HasSubstr("denied: "), HasSubstr("must be writable")));
}

TEST_F(SqlitePermissions, LogOfSomebodyElse) {
  const std::string words = in_child([this]() -> std::string {
    auto store = open_store(path_);
    hold(*store, "a");
    ::kill(::getpid(), SIGKILL);
    return {};
  });
  EXPECT_NE(words, "");
  std::filesystem::permissions(path_, perms(0666));
  std::filesystem::permissions(path_ + "-wal", perms(0666));
  ASSERT_TRUE(std::filesystem::exists(path_ + "-shm"));
  std::filesystem::permissions(path_ + "-shm", perms(0644));
  EXPECT_THAT(denied_to_nobody(), AllOf(HasSubstr("denied: "), HasSubstr("locks.db-shm")));
}

TEST_F(SqlitePermissions, AGroupSharesAFileThatUmaskAllowsItTo) {
  ASSERT_EQ(::chown(scratch_.path().c_str(), 0, 65534), 0);
  std::filesystem::permissions(scratch_.path(), perms(02775));  // new files get its group
  const mode_t old = ::umask(002);
  auto store = open_store(path_);
  hold(*store, "a");
  ::umask(old);
  EXPECT_EQ(static_cast<int>(std::filesystem::status(path_).permissions()), 0664);
  // Not a fork of this process, whose locks it would inherit: the store is open here.
  store.reset();
  const auto as_member = [this]() -> std::string {
    if (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65533, 65533, 65533) != 0)
      return "cannot become another";
    auto own = open_store(path_);
    if (hold(*own, "b") != Committed::yes) return "no commit";
    return sqlite::Bells::deaf(own->client()) ? "no bell" : "";
  };
  EXPECT_EQ(in_child(as_member), "");
  store = open_store(path_);
  EXPECT_EQ(look(*store, "b").holders.size(), 1U);
}

// A disk that is full, read-only or failing.

class SqliteDisk : public testing::Test {
 protected:
  /// Runs `work` in a child with a small disk of its own mounted at the path it gets.
  std::string on_small_disk(const std::function<std::string(const std::string&)>& work) const {
    return in_child([&]() -> std::string {
      const std::string disk = scratch_.file("disk");
      std::filesystem::create_directory(disk);
      if (::unshare(CLONE_NEWNS) != 0 ||
          ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
          ::mount("holdfast", disk.c_str(), "tmpfs", 0, "size=400k") != 0)
        return std::string("cannot mount: ") + std::strerror(errno);
      return work(disk);
    });
  }
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to mount a small disk";
  }
  Scratch scratch_;
};

TEST_F(SqliteDisk, AFullOneRefusesInWordsAndLosesNothing) {
  EXPECT_EQ(on_small_disk([](const std::string& disk) -> std::string {
              const std::string path = disk + "/locks.db";
              auto store = open_store(path);
              if (hold(*store, "first") != Committed::yes) return "no room at all";
              const std::string filler = disk + "/filler";
              {
                std::ofstream file(filler);
                while (file << std::string(4096, 'x') << std::flush) {
                }
              }
              std::uint64_t granted = look(*store, "first").token;
              Failure why{errc::timeout, {}};
              bool refused = false;
              for (int i = 0; i < 2000 && !refused; ++i) {
                const Committed outcome =
                    hold(*store, "first", std::chrono::hours(1), Clock::system(), &why);
                refused = outcome != Committed::yes;
                if (!refused) granted = look(*store, "first").token;
                if (outcome == Committed::unknown) return "unknown: " + why.words;
              }
              if (!refused) return "never full";
              if (why.code != errc::unavailable ||
                  why.words.find("disk is full") == std::string::npos ||
                  why.words.find(path) == std::string::npos)
                return "code " + std::to_string(static_cast<int>(why.code)) + ": " + why.words;
              if (look(*store, "first").token != granted) return "a refused commit was done";
              if (hold(*store, "first") == Committed::yes) return "it was full a moment ago";
              std::filesystem::remove(filler);
              if (hold(*store, "first") != Committed::yes) return "does not recover";
              if (look(*store, "first").token != granted + 1) return "lost something";
              store.reset();
              store = open_store(path);
              return look(*store, "first").token == granted + 1 ? "" : "lost something later";
            }),
            "");
}

TEST_F(SqliteDisk, OnAFullOneAFileCannotBeMade) {
  EXPECT_THAT(on_small_disk([](const std::string& disk) -> std::string {
                std::ofstream file(disk + "/filler");
                while (file << std::string(4096, 'x') << std::flush) {
                }
                const Failure why = refusal(disk + "/locks.db");
                return std::to_string(static_cast<int>(why.code)) + " " + why.words;
              }),
              AllOf(HasSubstr(std::to_string(static_cast<int>(errc::unavailable)) + " "),
                    HasSubstr("full")));
}

TEST_F(SqliteDisk, AReadOnlyOneIsDenied) {
  EXPECT_THAT(on_small_disk([](const std::string& disk) -> std::string {
                static_cast<void>(open_store(disk + "/locks.db"));
                if (::mount(nullptr, disk.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0)
                  return "cannot remount";
                const Failure old = refusal(disk + "/locks.db"), young = refusal(disk + "/new.db");
                if (old.code != errc::denied || young.code != errc::denied) return "not denied";
                return old.words + "\n" + young.words;
              }),
              AllOf(HasSubstr("locks.db: "), HasSubstr("new.db: "), HasSubstr("read-only")));
}

/// A disk whose fdatasync fails when asked to: SQLite's own file methods with another xSync.
class FailingSync {
 public:
  FailingSync() {
    fails = false;
    base = sqlite3_vfs_find(nullptr);
    vfs = *base;
    vfs.zName = "failing-sync";
    vfs.xOpen = [](sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
      const int code = base->xOpen(base, name, file, flags, out);
      if (code == SQLITE_OK && file->pMethods && (flags & SQLITE_OPEN_WAL)) {
        methods = *file->pMethods;
        sync = methods.xSync;
        methods.xSync = [](sqlite3_file* each, int how) {
          return fails ? SQLITE_IOERR_FSYNC : sync(each, how);
        };
        file->pMethods = &methods;
      }
      return code;
    };
    sqlite3_vfs_register(&vfs, 1);
  }
  ~FailingSync() {
    sqlite3_vfs_unregister(&vfs);
    sqlite3_vfs_register(base, 1);
  }
  static inline bool fails = false;

 private:
  static inline sqlite3_vfs* base = nullptr;
  static inline sqlite3_vfs vfs{};
  static inline sqlite3_io_methods methods{};
  static inline int (*sync)(sqlite3_file*, int) = nullptr;
};

TEST_F(SqliteRefusals, AnErrorWhileCommittingIsUnknownNotNo) {
  FailingSync disk;
  sqlite::Settings settings = settings_for(path_);
  settings.sync = sqlite::Sync::full;
  auto store = open_store(settings);
  ASSERT_EQ(hold(*store, "a"), Committed::yes);
  const std::uint64_t token = look(*store, "a").token;
  FailingSync::fails = true;
  Failure why{errc::timeout, {}};
  EXPECT_EQ(hold(*store, "a", std::chrono::hours(1), Clock::system(), &why), Committed::unknown);
  EXPECT_THAT(why, Refuses(errc::unknown, "cannot commit"));
  FailingSync::fails = false;
  EXPECT_EQ(hold(*store, "a"), Committed::yes);
  EXPECT_GE(look(*store, "a").token, token + 1);
}

}  // namespace
}  // namespace holdfast::test
