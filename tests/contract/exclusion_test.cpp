// At most one holder, whoever asks: other clients, other threads, other processes.

#include "contract/contract.hpp"
#include "support/outside.hpp"
#include "support/scratch.hpp"

namespace holdfast::test {
namespace {

class Exclusion : public Contract {};
HOLDFAST_ON_ALL_STORES(Exclusion);

TEST_P(Exclusion, BusyIsAValueAndNotAnError) {
  const Client a = client();
  const Client b = client();
  const Lease lease = a.mutex("x").acquire();
  EXPECT_FALSE(b.mutex("x").try_acquire());
  std::error_code why;
  EXPECT_FALSE(b.mutex("x").try_acquire(why));
  EXPECT_EQ(why, errc::timeout);
  EXPECT_EQ(lease.state(), LeaseState::held);
  EXPECT_TRUE(b.mutex("y").try_acquire(why));
  EXPECT_FALSE(why);
}

TEST_P(Exclusion, HoldsWithinOneClientAndOneThread) {
  const Client a = client();
  const Lease lease = a.mutex("x").acquire();
  EXPECT_FALSE(a.mutex("x").try_acquire());
  EXPECT_FALSE(a.mutex("x").try_acquire_for(20ms));
}

TEST_P(Exclusion, OwnersOfTheSameNameAreTwo) {
  const Client a = client();
  const Client b = client();
  const LeaseOptions options{.owner = "worker"};
  const Lease lease = a.mutex("x", options).acquire();
  EXPECT_FALSE(a.mutex("x", options).try_acquire());
  EXPECT_FALSE(b.mutex("x", options).try_acquire());
  EXPECT_THAT(truth("x").holders, SizeIs(1));
}

TEST_P(Exclusion, TheStoreTellsWhoHolds) {
  const Client a = client();
  const Lease lease =
      a.mutex("x", {.ttl = long_ttl, .owner = "worker 7", .note = "restocking"}).acquire();
  const auto info = truth("x");
  EXPECT_EQ(info.name, "x");
  ASSERT_THAT(info.holders, SizeIs(1));
  EXPECT_EQ(info.holders[0].owner, "worker 7");
  EXPECT_EQ(lease.owner(), "worker 7");
  EXPECT_EQ(info.holders[0].note, "restocking");
  EXPECT_EQ(info.holders[0].token, lease.token());
  EXPECT_EQ(info.holders[0].mode, Mode{});
  EXPECT_GE(info.token, lease.token());
  EXPECT_THAT(info.holders[0].client, HasSubstr(std::to_string(::getpid())));
  EXPECT_THAT(lease.names(), ElementsAre("x"));
}

TEST_P(Exclusion, ListShowsWhatIsInUse) {
  const Client a = client();
  const Lease b1 = a.mutex("b:1").acquire();
  const Lease a1 = a.mutex("a:1").acquire();
  Lease idle = a.mutex("a:2").acquire();
  EXPECT_EQ(idle.release(), ReleaseOutcome::released);
  const Lease a3 = a.mutex("a:3").acquire();
  const auto names = [](const std::vector<ResourceInfo>& found) {
    std::vector<std::string> all;
    for (const auto& info : found) all.push_back(info.name);
    return all;
  };
  EXPECT_THAT(names(admin_.list()), ElementsAre("a:1", "a:3", "b:1"));
  EXPECT_THAT(names(admin_.list("a:")), ElementsAre("a:1", "a:3"));
  EXPECT_THAT(names(admin_.list("", 2)), ElementsAre("a:1", "a:3"));
  EXPECT_THAT(admin_.list("c"), IsEmpty());
  EXPECT_THAT(truth("never").holders, IsEmpty());
}

TEST_P(Exclusion, ThreadsOfSeveralClients) {
  History history;
  Room room;
  const int each = rounds(60);
  {
    std::vector<Client> clients;
    for (int i = 0; i < 3; ++i) clients.push_back(client());
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i)
      threads.emplace_back([&, i, who = "thread" + std::to_string(i)] {
        const Mutex mutex = clients[static_cast<std::size_t>(i % 3)].mutex("x");
        for (int round = 0; round < each; ++round) {
          History::Tenure tenure{.key = "x", .who = who, .invoked = boot_clock::now()};
          Lease lease = mutex.acquire();
          tenure.granted = boot_clock::now();
          tenure.token = lease.token();
          room.enter();
          history.add(History::Write{"x", who, tenure.token});
          std::this_thread::yield();
          room.leave();
          tenure.believed = boot_clock::now();
          EXPECT_EQ(lease.release(), ReleaseOutcome::released);
          tenure.until = boot_clock::now();
          history.add(tenure);
        }
      });
  }
  EXPECT_EQ(room.crowded(), 0);
  EXPECT_EQ(history.tenures(), static_cast<std::size_t>(6 * each));
  EXPECT_THAT(history.check(wake_up_bound()), IsEmpty());
}

class ExclusionOfProcesses : public Contract {};
HOLDFAST_ON_STORES_WITH(several_processes, ExclusionOfProcesses);

TEST_P(ExclusionOfProcesses, CounterRace) {
  const Scratch scratch;
  const std::string file = scratch.file("counter");
  const int each = rounds(60);
  std::vector<Taker> takers;
  for (int i = 0; i < 4; ++i) takers.push_back(taker());
  for (std::size_t i = 0; i < takers.size(); ++i)
    takers[i].send("contend", "x", file, each, long_ttl.count(), "process" + std::to_string(i));
  History history;
  for (auto& one : takers) {
    one.expect("done", 2 * patience);
    for (int i = 0; i < each; ++i) history.add(tenure_of(one.expect("tenure")));
    EXPECT_FALSE(one.next("odd", 0ms));
  }
  EXPECT_EQ(Counter(file).read(), 4 * each);
  EXPECT_THAT(history.check(wake_up_bound()), IsEmpty());
}

TEST_P(ExclusionOfProcesses, AnotherProcessIsBusy) {
  Taker other = taker();
  const auto token = other.acquire("x", long_ttl);
  const Client a = client();
  EXPECT_FALSE(a.mutex("x").try_acquire());
  EXPECT_THAT(truth("x").holders.at(0).client, HasSubstr(std::to_string(other.process().pid())));
  Asking asking(a.mutex("x"));
  ASSERT_TRUE(queued("x"));
  other.send("release", "x");
  EXPECT_EQ(other.expect("released").words.at(1), "released");
  EXPECT_GT(asking.granted().token(), token);
}

}  // namespace
}  // namespace holdfast::test
