#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <numeric>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fork.hpp"
#include "unit/sqlite_fixture.hpp"

namespace holdfast::test {
namespace {

using sqlite::Store;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SqliteStore : public testing::Test {
 protected:
  Scratch scratch_;
  std::string path_ = path_of(scratch_);
};

// Transactions

TEST_F(SqliteStore, KeepsWhatIsCommittedAndForgetsWhatIsRolledBack) {
  {
    auto store = open_store(path_);
    EXPECT_EQ(hold(*store, "a"), Committed::yes);
    ASSERT_EQ(*store->begin(Access::write), Begun::yes);
    store->record("b").token = 7;
    store->changed("b");
    store->rollback();
    ASSERT_EQ(*store->begin(Access::write), Begun::yes);
    store->record("c").token = 7;  // changed, but not marked so
    Failure why{errc::timeout, {}};
    EXPECT_EQ(store->commit(why), Committed::yes);
  }
  auto store = open_store(path_);
  EXPECT_EQ(look(*store, "a").holders.size(), 1U);
  EXPECT_EQ(look(*store, "b").token, 0U);
  EXPECT_EQ(look(*store, "c").token, 0U);
  EXPECT_EQ(sql(path_, "SELECT busy FROM holdfast_resource WHERE name = 'a'"), "1");
  EXPECT_EQ(sql(path_, "SELECT token FROM holdfast_resource WHERE name = 'a'"),
            std::to_string(look(*store, "a").token))
      << "a column for people";
}

TEST_F(SqliteStore, OneWritesWhileOthersReadWhatWasBefore) {
  auto one = open_store(path_);
  auto two = open_store(path_);
  ASSERT_EQ(hold(*one, "a"), Committed::yes);
  ASSERT_EQ(*one->begin(Access::write), Begun::yes);
  one->record("a").holders.clear();
  one->changed("a");
  EXPECT_EQ(*two->begin(Access::write), Begun::busy);
  EXPECT_EQ(look(*two, "a").holders.size(), 1U);
  Failure why{errc::timeout, {}};
  ASSERT_EQ(one->commit(why), Committed::yes);
  EXPECT_EQ(look(*two, "a").holders.size(), 0U);
  EXPECT_EQ(hold(*two, "a"), Committed::yes);
}

TEST_F(SqliteStore, KeepsCells) {
  auto store = open_store(path_);
  write(*store, [&] {
    driver::CellRecord& cell = store->cell("c");
    cell.version = store->token_floor() + 1;
    cell.value = std::string("a\0b", 3);
    cell.watchers = {{Id::random(), store->client(), Clock::system().now()}};
    store->cell_changed("c");
  });
  store = open_store(path_);
  ASSERT_EQ(*store->begin(Access::read), Begun::yes);
  EXPECT_EQ(store->cell("c").value, std::string("a\0b", 3));
  EXPECT_EQ(store->cell("c").watchers.size(), 1U);
  store->rollback();
}

TEST_F(SqliteStore, ListsBusyNamesByPrefix) {
  auto store = open_store(path_);
  for (const char* name : {"b", "a:2", "a:1", "a:3", "a", "a;", "ä"}) hold(*store, name);
  free(*store, "a:3");
  const auto names = [&](std::string_view prefix, std::size_t limit) {
    EXPECT_EQ(*store->begin(Access::read), Begun::yes);
    auto found = store->names(prefix, limit);
    store->rollback();
    return found;
  };
  EXPECT_THAT(names("", 100), ElementsAre("a", "a:1", "a:2", "a;", "b", "ä"));
  EXPECT_THAT(names("a:", 100), ElementsAre("a:1", "a:2"));
  EXPECT_THAT(names("a", 2), ElementsAre("a", "a:1"));
  EXPECT_THAT(names("ä", 2), ElementsAre("ä"));
  EXPECT_THAT(names("z", 2), IsEmpty());
}

TEST_F(SqliteStore, TicketsRiseOverTransactionsAndClients) {
  auto one = open_store(path_);
  auto two = open_store(path_);
  std::vector<std::uint64_t> tickets;
  for (Store* store : {one.get(), two.get(), one.get()})
    write(*store, [&] {
      tickets.push_back(store->next_ticket());
      tickets.push_back(store->next_ticket());
    });
  EXPECT_TRUE(std::is_sorted(tickets.begin(), tickets.end()));
  EXPECT_EQ(std::adjacent_find(tickets.begin(), tickets.end()), tickets.end());
}

/// Sees every statement of every connection that is opened meanwhile.
class Trace {
 public:
  Trace() {
    statements.clear();
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(&attach));
  }
  ~Trace() { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&attach)); }
  static inline std::vector<std::string> statements;

 private:
  static int attach(sqlite3* database, char**, const void*) {
    const auto note = [](unsigned, void*, void* statement, void*) {
      const std::string text = sqlite3_sql(static_cast<sqlite3_stmt*>(statement));
      statements.push_back(text.substr(0, text.find(' ', text.find(' ') + 1)));
      return 0;
    };
    return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, note, nullptr);
  }
};

TEST_F(SqliteStore, AnUncontendedLeaseCostsFourStatementsATransaction) {
  const Trace trace;
  auto store = open_store(path_);
  hold(*store, "a");
  free(*store, "a");
  Trace::statements.clear();
  hold(*store, "a");
  free(*store, "a");
  EXPECT_THAT(Trace::statements,
              ElementsAre("BEGIN IMMEDIATE", "SELECT record", "INSERT INTO", "COMMIT",
                          "BEGIN IMMEDIATE", "SELECT record", "INSERT INTO", "COMMIT"));
}

// Crashes

TEST_F(SqliteStore, AKilledWriterLosesNothingAndLocksNothing) {
  std::minstd_rand random(20240607);
  std::uint64_t known = 0;
  for (int round = 0; round < rounds(60); ++round) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      auto store = open_store(path_);
      for (;;) {
        std::uint64_t token = 0;
        write(*store, [&] {
          token = ++store->record("a").token;
          store->changed("a");
        });
        if (::write(ends[1], &token, sizeof token) != sizeof token) ::_exit(1);
      }
    }
    ::close(ends[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(2000 + random() % 20'000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    std::uint64_t told = known;
    while (::read(ends[0], &told, sizeof told) == sizeof told) {
    }
    ::close(ends[0]);

    auto store = open_store(path_);
    known = look(*store, "a").token;
    ASSERT_GE(known, told) << "a commit that was told of is lost, round " << round;
    ASSERT_LE(known, told + 1);
    ASSERT_EQ(*store->begin(Access::write), Begun::yes) << "still locked, round " << round;
    store->rollback();
    for (const auto& bell : std::filesystem::directory_iterator(path_ + "-bells")) {
      const std::string name = bell.path().filename();
      ASSERT_TRUE(name.starts_with(".new.") || name.ends_with(store->client().hex()))
          << "the dead client's bell has not been taken down: " << name;
    }
  }
  EXPECT_EQ(sql(path_, "PRAGMA integrity_check"), "ok");
}

TEST_F(SqliteStore, AWriterStoppedInATransactionMakesOthersBusyUntilItIsKilled) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto store = open_store(path_);
    const auto begun = store->begin(Access::write);
    store->record("a").token = 1;
    store->changed("a");
    [[maybe_unused]] const auto ignored = ::write(ends[1], "x", 1);
    ::raise(SIGSTOP);
    ::_exit(begun.ok() ? 0 : 1);
  }
  char x = 0;
  ASSERT_EQ(::read(ends[0], &x, 1), 1);
  ::waitpid(child, nullptr, WUNTRACED);
  auto store = open_store(path_);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*store->begin(Access::write), Begun::busy);
  EXPECT_EQ(look(*store, "a").token, 0U) << "readers go on";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(*store->begin(Access::write), Begun::yes);
  EXPECT_EQ(store->record("a").token, 0U);
  store->rollback();
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(SqliteStore, ProcessesThatOpenANewFileTogetherAllGetIn) {
  const int processes = 12, each = rounds(120);
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        auto store = open_store(path_);
        for (int n = 0; n < each; ++n)
          write(*store, [&] {
            ++store->record("count").token;
            store->changed("count");
          });
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  auto store = open_store(path_);
  EXPECT_EQ(look(*store, "count").token, static_cast<std::uint64_t>(processes * each));
}

// fork

TEST_F(SqliteStore, AForkedChildThatOpensItselfIsSafeFromItsParentsEnd) {
  std::array<int, 2> to_child{}, to_parent{};
  ASSERT_EQ(::pipe(to_child.data()), 0);
  ASSERT_EQ(::pipe(to_parent.data()), 0);
  auto parents = open_store(path_);
  hold(*parents, "of the parent");
  const pid_t child = ::fork();
  if (child == 0) {
    auto own = open_store(path_);
    hold(*own, "before");
    [[maybe_unused]] auto ignored = ::write(to_parent[1], "x", 1);
    char x = 0;
    ignored = ::read(to_child[0], &x, 1);
    hold(*own, "after");  // without ForkGuarded: into a log that the parent has deleted
    ::_exit(look(*own, "of the parent").holders.size() == 1 ? 0 : 1);
  }
  char x = 0;
  ASSERT_EQ(::read(to_parent[0], &x, 1), 1);
  parents.reset();
  ASSERT_EQ(::write(to_child[1], "x", 1), 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  auto store = open_store(path_);
  EXPECT_EQ(look(*store, "before").holders.size(), 1U);
  EXPECT_EQ(look(*store, "after").holders.size(), 1U);
  for (const auto& ends : {to_child, to_parent})
    for (const int end : ends) ::close(end);
}

TEST_F(SqliteStore, ForksWhileOtherThreadsWriteNeitherHangNorHarm) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> written{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      auto store = open_store(path_);
      while (!stop) {
        write(*store, [&] {
          ++store->record("count").token;
          store->changed("count");
        });
        ++written;
      }
    });
  const auto as_child = [&] {
    for (int n = 0; n < 5; ++n) {
      auto store = open_store(path_);
      write(*store, [&] {
        ++store->record("count").token;
        store->changed("count");
      });
    }
    return std::string();
  };
  for (int i = 0; i < rounds(30); ++i) {
    EXPECT_EQ(in_child(as_child), "");
    written += 5;
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  auto store = open_store(path_);
  EXPECT_EQ(look(*store, "count").token, written);
  EXPECT_EQ(sql(path_, "PRAGMA integrity_check"), "ok");
}

TEST_F(SqliteStore, AChildThatLivesOnDoesNotMakeItsDeadParentLookAlive) {
  std::array<int, 2> ends{}, quit{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::pipe(quit.data()), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    auto store = open_store(path_);
    const pid_t grandchild = ::fork();
    if (grandchild == 0) {
      ::close(quit[1]);
      char x = 0;
      [[maybe_unused]] const auto ignored = ::read(quit[0], &x, 1);
      ::_exit(0);
    }
    [[maybe_unused]] const auto ignored =
        ::write(ends[1], store->client().bytes.data(), store->client().bytes.size());
    ::raise(SIGKILL);
  }
  Id dead;
  ASSERT_EQ(::read(ends[0], dead.bytes.data(), dead.bytes.size()),
            static_cast<ssize_t>(dead.bytes.size()));
  ::waitpid(parent, nullptr, 0);
  auto store = open_store(path_);
  EXPECT_FALSE(store->alive(dead));
  for (const int end : {ends[0], ends[1], quit[0], quit[1]}) ::close(end);
}

TEST_F(SqliteStore, AllDescriptorsAreCloseOnExec) {
  const auto open_now = [] {
    std::vector<int> found;
    const std::unique_ptr<DIR, int (*)(DIR*)> all(::opendir("/proc/self/fd"), &::closedir);
    while (const dirent* entry = ::readdir(all.get()))
      if (const int each = std::atoi(entry->d_name); each > 2 && each != ::dirfd(all.get()))
        found.push_back(each);
    return found;
  };
  const auto before = open_now();
  auto one = open_store(path_);
  auto two = open_store(path_);
  hold(*one, "a");
  EXPECT_TRUE(one->alive(two->client()));
  int seen = 0;
  for (const int each : open_now()) {
    if (std::find(before.begin(), before.end(), each) != before.end()) continue;
    ++seen;
    EXPECT_TRUE(::fcntl(each, F_GETFD) & FD_CLOEXEC)
        << std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(each));
  }
  EXPECT_GE(seen, 7);
}

// Tokens

std::uint64_t unix_us(const Clock& clock) { return sqlite::starting_token(clock.wall()); }

TEST_F(SqliteStore, TokensOfANewFileStartAtTheTimeOfDay) {
  const std::uint64_t before = unix_us(Clock::system());
  auto store = open_store(path_);
  ASSERT_EQ(*store->begin(Access::write), Begun::yes);
  EXPECT_EQ(store->record("a").token, 0U);
  EXPECT_GE(store->token_floor(), before);
  EXPECT_LE(store->token_floor(), unix_us(Clock::system()));
  store->rollback();
}

TEST_F(SqliteStore, TokensDoNotFallWhenIdleRecordsAreDropped) {
  MovedClock clock;
  auto store = open_store(path_, clock);
  auto other = open_store(path_, clock);
  std::uint64_t highest = 0;
  for (int i = 0; i < 50; ++i) {
    const std::string name = "idle " + std::to_string(i);
    write(*store, [&] {
      store->record(name).token = highest = store->token_floor() + 1'000'000 + std::uint64_t(i);
      store->changed(name);
    });
  }
  hold(*store, "held", hours(24), clock);
  EXPECT_EQ(sql(path_, "SELECT count(*) FROM holdfast_resource"), "51");
  clock.day += minutes(90);
  clock.boot += minutes(90);
  hold(*store, "young", hours(24), clock);
  EXPECT_EQ(sql(path_, "SELECT group_concat(name) FROM holdfast_resource"), "held,young");
  // Of the client that dropped them as well as of the one that has not seen it.
  for (Store* each : {store.get(), other.get()}) {
    ASSERT_EQ(*each->begin(Access::write), Begun::yes);
    EXPECT_EQ(each->record("idle 3").token, 0U);
    EXPECT_GE(each->token_floor(), highest);
    each->rollback();
  }
}

TEST_F(SqliteStore, DropsAtMostOnceAMinuteAndAllClientsTogether) {
  MovedClock clock;
  auto store = open_store(path_, clock);
  auto other = open_store(path_, clock);
  const auto idle = [&](const std::string& name) {
    write(*store, [&] {
      store->record(name).token = 1;
      store->changed(name);
    });
  };
  idle("a");
  clock.day += minutes(61);
  clock.boot += minutes(61);
  hold(*store, "x", hours(24), clock);
  EXPECT_EQ(sql(path_, "SELECT group_concat(name) FROM holdfast_resource"), "x");
  idle("b");
  clock.day += minutes(61);
  clock.boot += seconds(59);
  hold(*store, "x", hours(24), clock);
  EXPECT_EQ(sql(path_, "SELECT group_concat(name) FROM holdfast_resource"), "b,x");
  clock.boot += minutes(2);
  hold(*other, "x", hours(24), clock);
  EXPECT_EQ(sql(path_, "SELECT group_concat(name) FROM holdfast_resource"), "x");
}

TEST_F(SqliteStore, KeepsTheNumberOfIdleRecordsBounded) {
  auto store = open_store(path_);
  std::uint64_t first = 0, last = 0;
  const std::size_t many = sqlite::Retention::keep_idle + 3500;
  for (std::size_t i = 0; i < many; i += 250)
    write(*store, [&] {
      for (std::size_t n = i; n < i + 250; ++n) {
        const std::string name = "order:" + std::to_string(n);
        driver::Record& record = store->record(name);
        last = record.token = store->token_floor() + 10 + n;
        if (first == 0) first = last;
        store->changed(name);
      }
    });
  const auto kept = std::stoul(sql(path_, "SELECT count(*) FROM holdfast_resource"));
  EXPECT_LE(kept, sqlite::Retention::keep_idle + 2 * sqlite::Retention::max_added);
  EXPECT_GE(kept, sqlite::Retention::keep_idle - 1);
  ASSERT_EQ(*store->begin(Access::write), Begun::yes);
  EXPECT_EQ(store->record("order:0").token, 0U) << "the oldest went first";
  EXPECT_GE(store->token_floor(), first);
  EXPECT_GT(store->record("order:" + std::to_string(many - 1)).token, 0U);
  store->rollback();
}

TEST_F(SqliteStore, ForgottenHoldersDoNotKeepTheirRecordForEver) {
  MovedClock clock;
  auto store = open_store(path_, clock);
  hold(*store, "crashed", seconds(30), clock);
  hold(*store, "long", hours(24), clock);
  clock.day += minutes(61);
  clock.boot += minutes(61);
  hold(*store, "x", hours(24), clock);
  EXPECT_EQ(look(*store, "crashed").holders.size(), 0U);
  EXPECT_EQ(look(*store, "crashed").ended, Predecessor::expired);
  EXPECT_EQ(look(*store, "long").holders.size(), 1U);
  clock.day += minutes(61);
  clock.boot += minutes(61);
  hold(*store, "x", hours(24), clock);
  EXPECT_EQ(sql(path_, "SELECT group_concat(name) FROM holdfast_resource"), "long,x");
}

// Reboots and copies

TEST_F(SqliteStore, AnotherBootVoidsHoldersAndWaitersAndKeepsTokens) {
  sqlite::Settings settings = settings_for(path_);
  settings.sync = sqlite::Sync::full;
  const Id lease = Id::random();
  std::uint64_t token = 0;
  {
    auto store = open_store(settings);
    hold(*store, "a");
    write(*store, [&] {
      driver::Record& record = store->record("a");
      record.holders[0].lease = lease;
      token = record.token;
      record.waiters.resize(2);
      store->changed("a");
      store->cell("c").version = 5;
      store->cell("c").watchers.resize(1);
      store->cell_changed("c");
    });
    write(*store, [&] { static_cast<void>(store->next_ticket()); });
  }
  settings.machine.boot = "another";
  settings.machine.time_namespace = "of this boot";
  auto store = open_store(settings);
  const driver::Record record = look(*store, "a");
  EXPECT_TRUE(record.idle());
  EXPECT_EQ(record.last, lease);
  EXPECT_EQ(record.ended, Predecessor::expired);
  EXPECT_EQ(record.token, token) << "with sync=full nothing can have been lost";
  ASSERT_EQ(*store->begin(Access::write), Begun::yes);
  EXPECT_EQ(store->cell("c").version, 5U);
  EXPECT_THAT(store->cell("c").watchers, IsEmpty());
  EXPECT_EQ(store->next_ticket(), 2U);
  store->rollback();
  EXPECT_EQ(sql(path_, "SELECT count(*) FROM holdfast_resource WHERE busy = 1"), "0");

  hold(*store, "a");
  auto second = open_store(settings);
  EXPECT_EQ(look(*second, "a").holders.size(), 1U) << "once a boot";
}

TEST_F(SqliteStore, AfterAPowerCutTokensStartAboveThoseThatSyncNormalMayHaveLost) {
  sqlite::Settings settings = settings_for(path_);
  {
    auto store = open_store(settings);
    hold(*store, "a");
  }
  const std::uint64_t before = unix_us(Clock::system());
  settings.machine.boot = "another";
  settings.sync = sqlite::Sync::full;
  for (int i = 0; i < 2; ++i) {
    auto store = open_store(settings);
    EXPECT_GE(look(*store, "a").token, before);
    ASSERT_EQ(*store->begin(Access::write), Begun::yes);
    EXPECT_EQ(store->record("new").token, 0U);
    EXPECT_GE(store->token_floor(), before);
    store->rollback();
  }
}

TEST_F(SqliteStore, ManyHoldersAreVoidedInOneGo) {
  sqlite::Settings settings = settings_for(path_);
  {
    auto store = open_store(settings);
    write(*store, [&] {
      for (int i = 0; i < 1700; ++i) {
        const std::string name = "n" + std::to_string(i);
        store->record(name).holders.resize(1);
        store->changed(name);
      }
    });
  }
  EXPECT_EQ(sql(path_, "SELECT count(*) FROM holdfast_resource WHERE busy = 1"), "1700");
  settings.machine.boot = "another";
  static_cast<void>(open_store(settings));
  EXPECT_EQ(sql(path_, "SELECT count(*) FROM holdfast_resource WHERE busy = 1"), "0");
  EXPECT_EQ(sql(path_, "SELECT count(*) FROM holdfast_resource"), "1700");
}

TEST_F(SqliteStore, ACopyHasNoHoldersAndStartsAboveItsOriginal) {
  {
    auto store = open_store(path_);
    hold(*store, "a");
  }
  const std::string copy = scratch_.file("copy.db");
  std::filesystem::copy_file(path_, copy);
  std::uint64_t later = 0;
  {
    auto store = open_store(path_);
    for (int i = 0; i < 100; ++i) hold(*store, "a");
    later = look(*store, "a").token;
  }
  auto restored = open_store(copy);
  EXPECT_TRUE(look(*restored, "a").idle());
  EXPECT_GE(look(*restored, "a").token, later);
}

TEST_F(SqliteStore, AnotherTimeNamespaceIsRefusedUnlessNobodyElseIsThere) {
  sqlite::Settings here = settings_for(path_), there = settings_for(path_);
  there.machine.time_namespace = "4242";
  auto store = open_store(here);
  EXPECT_EQ(refusal(there).code, errc::misconfigured) << "a client is there";
  EXPECT_THAT(refusal(there).words, HasSubstr("time namespace"));
  hold(*store, "a");
  store.reset();
  EXPECT_EQ(refusal(there).code, errc::misconfigured) << "a lease is there";
  store = open_store(here);
  free(*store, "a");
  store.reset();
  EXPECT_EQ(refusal(there).words, "it opens");
  EXPECT_EQ(refusal(here).words, "it opens");
}

// A file that is deleted or replaced

TEST_F(SqliteStore, NobodyGrantsInANewFileBeforeTheLeasesOnTheOldOneHaveEnded) {
  MovedClock clock;
  auto old = open_store(path_, clock);
  hold(*old, "a", hours(1), clock);
  for (const char* companion : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + companion);

  sqlite::Settings impatient = settings_for(path_);
  Failure why = refusal(impatient);
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_THAT(why.words, HasSubstr("1 client still uses an older file"));
  EXPECT_FALSE(std::filesystem::exists(path_));

  old->heard();  // the newcomer has told it
  const auto begun = old->begin(Access::write);
  ASSERT_FALSE(begun.ok());
  EXPECT_EQ(begun.failure().code, errc::unavailable);
  EXPECT_THAT(begun.failure().words, HasSubstr("deleted or replaced"));
  EXPECT_EQ(refusal(impatient).code, errc::unavailable);

  clock.boot += minutes(61);
  EXPECT_EQ(hold(*old, "b", hours(1), clock), Committed::yes) << "goes on with a new file";
  EXPECT_TRUE(look(*old, "a").idle());
  auto young = open_store(impatient, clock);
  EXPECT_EQ(look(*young, "b").holders.size(), 1U);
  EXPECT_TRUE(young->alive(old->client()));
}

TEST_F(SqliteStore, AClientNoticesAReplacedFileWithinASecond) {
  MovedClock clock;
  auto old = open_store(path_, clock);
  hold(*old, "a", hours(1), clock);
  const std::string other = scratch_.file("other.db");
  {
    auto elsewhere = open_store(other);
    hold(*elsewhere, "x");
  }
  std::filesystem::rename(other, path_);
  clock.boot += seconds(1);
  EXPECT_FALSE(old->begin(Access::read).ok());
  EXPECT_FALSE(old->begin(Access::write).ok());
  EXPECT_EQ(refusal(path_).code, errc::unavailable);
}

TEST_F(SqliteStore, AnIdleClientLetsGoAtOnceWhenTold) {
  auto old = open_store(path_);
  hold(*old, "a", Duration(0));
  std::filesystem::remove(path_);
  std::thread loop([&] {
    for (int i = 0; i < 100; ++i) {
      old->heard();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  EXPECT_EQ(refusal(path_).words, "it opens");
  loop.join();
  EXPECT_EQ(hold(*old, "b"), Committed::yes);
}

TEST_F(SqliteStore, HangsItsBellUpAgainWhenSomebodyTakesThemAllDown) {
  MovedClock clock;
  auto one = open_store(path_, clock);
  auto two = open_store(path_, clock);
  std::filesystem::remove_all(path_ + "-bells");
  EXPECT_TRUE(one->alive(two->client())) << "not sure";
  clock.boot += seconds(1);
  static_cast<void>(look(*one, "a"));
  EXPECT_TRUE(one->alive(two->client())) << "it may just not have noticed yet";
  static_cast<void>(look(*two, "a"));
  clock.boot += seconds(11);
  EXPECT_TRUE(one->alive(two->client()));
  EXPECT_TRUE(two->alive(one->client()));
  EXPECT_FALSE(two->alive(Id{})) << "sure again";
}

TEST_F(SqliteStore, HintsFindTheirClient) {
  std::vector<std::pair<driver::Hint::Kind, Id>> heard;
  Store::Hooks hooks;
  hooks.hinted = [&](driver::Hint::Kind kind, const Id& subject) {
    heard.emplace_back(kind, subject);
  };
  auto one = open_store(path_);
  auto two = open_store(settings_for(path_), Clock::system(), std::move(hooks));
  const Id subject = Id::random();
  one->ring({two->client(), driver::Hint::Kind::wanted, subject});
  one->ring({two->client(), driver::Hint::Kind::granted, subject});
  one->ring({Id::random(), driver::Hint::Kind::granted, subject});
  two->heard();
  EXPECT_THAT(heard,
              testing::UnorderedElementsAre(std::pair(driver::Hint::Kind::wanted, subject),
                                            std::pair(driver::Hint::Kind::granted, subject)));
}

TEST_F(SqliteStore, WorksWithoutBells) {
  std::ofstream(path_ + "-bells") << "a file in its place";
  std::string logged;
  Store::Hooks hooks;
  hooks.log = [&](LogLevel, std::string_view event, std::string_view words) {
    logged = std::string(event) + " " + std::string(words);
  };
  auto deaf = open_store(settings_for(path_), Clock::system(), std::move(hooks));
  EXPECT_THAT(logged, HasSubstr("no_bell"));
  EXPECT_TRUE(sqlite::Bells::deaf(deaf->client()));
  EXPECT_EQ(hold(*deaf, "a"), Committed::yes);
  EXPECT_TRUE(deaf->alive(Id::random())) << "it cannot know";
  std::filesystem::remove(path_ + "-bells");
  auto hearing = open_store(path_);
  EXPECT_TRUE(hearing->alive(deaf->client())) << "its id tells that it has no bell";
  hearing->ring({deaf->client(), driver::Hint::Kind::granted, Id::random()});
  deaf->heard();
}

}  // namespace
}  // namespace holdfast::test
