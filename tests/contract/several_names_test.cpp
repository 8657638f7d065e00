// Several names at once: all or nothing, and no deadlock whatever the order.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class SeveralNames : public Contract {
 protected:
  void SetUp() override { ASSERT_TRUE(admin_.capabilities().several_names); }
};
HOLDFAST_ON_ALL_STORES(SeveralNames);

TEST_P(SeveralNames, AllOrNothing) {
  const Client a = client();
  const Client b = client();
  const Lease holder = b.mutex("y").acquire();
  EXPECT_FALSE(a.mutex({"x", "y", "z"}).try_acquire());
  EXPECT_FALSE(a.mutex({"x", "y", "z"}).try_acquire_for(50ms));
  EXPECT_TRUE(becomes_idle("x"));
  EXPECT_TRUE(becomes_idle("z"));
  EXPECT_THAT(truth("y").waiters, IsEmpty());
  EXPECT_EQ(truth("y").holders.at(0).token, holder.token());
  const auto both = a.mutex({"x", "z"}).try_acquire();
  ASSERT_TRUE(both);
  for (const char* name : {"x", "z"}) EXPECT_FALSE(b.mutex(name).try_acquire()) << name;
}

TEST_P(SeveralNames, AreReleasedTogether) {
  const Client a = client();
  Lease lease = a.mutex({"x", "y"}).acquire();
  EXPECT_EQ(lease.release(), ReleaseOutcome::released);
  EXPECT_THAT(truth("x").holders, IsEmpty());
  EXPECT_THAT(truth("y").holders, IsEmpty());
}

TEST_P(SeveralNames, WaitUntilAllAreFree) {
  const Client a = client();
  const Client b = client();
  Lease x = a.mutex("x").acquire();
  Lease y = a.mutex("y").acquire();
  Asking both(b.mutex({"x", "y"}));
  ASSERT_TRUE(queued("x"));
  ASSERT_TRUE(queued("y"));
  x.release();
  EXPECT_FALSE(both.done(50ms));
  y.release();
  EXPECT_THAT(both.granted().names(), ElementsAre("x", "y"));
}

TEST_P(SeveralNames, AreNotOvertakenByRequestsForOne) {
  const Client a = client();
  const Client b = client();
  const Client c = client();
  Lease y = a.mutex("y").acquire();
  Asking both(b.mutex({"x", "y"}));
  ASSERT_TRUE(queued("x", 1));
  EXPECT_FALSE(c.mutex("x").try_acquire()) << "who wants all would never get them";
  y.release();
  EXPECT_TRUE(both.granted());
}

TEST_P(SeveralNames, InOppositeOrdersDoNotDeadlock) {
  const Client a = client();
  const Client b = client();
  Room room;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back(
          [&, mutex = i % 2 ? a.mutex({"x", "y", "z"}) : b.mutex({"z", "y", "x"})] {
            for (int round = 0; round < rounds(100); ++round) {
              auto lease = mutex.try_acquire_for(patience);
              ASSERT_TRUE(lease) << "round " << round;
              room.enter();
              room.leave();
              lease->release();
            }
          });
  }
  EXPECT_EQ(room.crowded(), 0);
}

TEST_P(SeveralNames, OverlappingSetsInRandomOrder) {
  std::vector<Client> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(client());
  std::array<Room, 5> room;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 6; ++i)
      threads.emplace_back([&, i] {
        std::minstd_rand random(static_cast<unsigned>(i + 1));
        for (int round = 0; round < rounds(60); ++round) {
          std::vector<std::string> names;
          for (unsigned n = 0; n < 1 + random() % 3; ++n)
            names.push_back(std::to_string(random() % room.size()));
          auto lease = clients[i % 3].mutex(names).try_acquire_for(patience);
          ASSERT_TRUE(lease);
          for (const auto& name : lease->names()) room[std::stoul(name)].enter();
          for (const auto& name : lease->names()) room[std::stoul(name)].leave();
        }
      });
  }
  for (const auto& one : room) EXPECT_EQ(one.crowded(), 0);
}

TEST_P(SeveralNames, CountOnceAndAreSorted) {
  const Client a = client();
  const Lease lease = a.mutex({"y", "x", "y"}).acquire();
  EXPECT_THAT(lease.names(), ElementsAre("x", "y"));
}

TEST_P(SeveralNames, HaveABound) {
  const Client a = client();
  std::vector<std::string> names;
  for (int i = 0; i < 64; ++i) names.push_back("n" + std::to_string(i));
  EXPECT_THAT(a.mutex(names).acquire().names(), SizeIs(64));
  names.push_back("one too many");
  EXPECT_EQ(error_of([&] { return a.mutex(names); }), errc::bad_argument);
  names.clear();
  EXPECT_EQ(error_of([&] { return a.mutex(names); }), errc::bad_argument);
}

TEST_P(SeveralNames, ExpireTogether) {
  const Client a = client();
  const Lease dead = a.mutex({"x", "y"}, {.ttl = short_ttl, .auto_renew = false}).acquire();
  EXPECT_TRUE(another().mutex({"y", "x"}).try_acquire_for(patience));
}

}  // namespace
}  // namespace holdfast::test
