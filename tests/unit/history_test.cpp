// The history checkers find each planted bug, and nothing in a history that is right.

#include "support/history.hpp"

#include <gmock/gmock.h>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

History::Instant at(int milliseconds) {
  return History::Instant(std::chrono::milliseconds(milliseconds));
}

MATCHER_P(Check, name, "") { return arg.check == name; }

/// Asked, granted, released by `who`, in milliseconds.
History::Tenure tenure(std::string who, std::uint64_t token, int invoked, int granted,
                       int released) {
  return {.key = "x",
          .who = std::move(who),
          .token = token,
          .invoked = at(invoked),
          .granted = at(granted),
          .believed = at(released),
          .until = at(released + 1)};
}

History::Tenure reader(std::string who, std::uint64_t token, int invoked, int granted,
                       int released) {
  History::Tenure shared = tenure(std::move(who), token, invoked, granted, released);
  shared.shared = true;
  return shared;
}

constexpr auto bound = 10ms;

TEST(History, AcceptsARunThatIsRight) {
  History history;
  history.add(tenure("a", 1, 0, 1, 20));
  history.add(tenure("b", 2, 2, 22, 40));
  history.add(tenure("a", 7, 21, 41, 60));
  history.add(History::Wait{"x", "c", at(25), at(35)});
  history.add(History::Write{"x", "a", 1});
  history.add(History::Write{"x", "b", 2});
  history.add(History::Write{"x", "a", 1, false});
  history.add(History::Write{"x", "a", 7});
  history.add(History::Write{"x", "a", 7});
  EXPECT_THAT(history.check(bound), IsEmpty());
  EXPECT_EQ(history.tenures(), 3u);
}

TEST(History, KeysAreJudgedApart) {
  History history;
  history.add(tenure("a", 5, 0, 1, 50));
  auto other = tenure("b", 2, 10, 11, 40);
  other.key = "y";
  history.add(other);
  history.add(History::Write{"x", "a", 5});
  history.add(History::Write{"y", "b", 2});
  EXPECT_THAT(history.check(bound), IsEmpty());
}

TEST(History, C1SeesAWriteWithAnOldToken) {
  History history;
  history.add(History::Write{"x", "a", 1});
  history.add(History::Write{"x", "b", 2});
  history.add(History::Write{"x", "a", 1});
  EXPECT_THAT(history.fenced_exclusion(), ElementsAre(Check("C1")));
}

TEST(History, C1SeesATokenWithTwoOwners) {
  History history;
  history.add(History::Write{"x", "a", 3});
  history.add(History::Write{"x", "b", 3});
  EXPECT_THAT(history.fenced_exclusion(), ElementsAre(Check("C1")));
}

TEST(History, C2SeesATokenThatFalls) {
  History history;
  history.add(tenure("a", 5, 0, 1, 10));
  history.add(tenure("b", 4, 11, 12, 20));
  EXPECT_THAT(history.check(bound), ElementsAre(Check("C2")));
}

TEST(History, C2SeesATokenThatRestartsLater) {
  History history;
  history.add(tenure("a", 1, 0, 1, 10));
  history.add(tenure("b", 2, 11, 12, 20));
  history.add(tenure("a", 3, 21, 22, 30));
  history.add(tenure("c", 1, 31, 32, 40));
  EXPECT_THAT(history.token_order(), SizeIs(2));  // it fell, and it was given twice
}

TEST(History, C2SeesATokenGivenTwiceAtOnce) {
  History history;
  history.add(tenure("a", 1, 0, 10, 20));
  history.add(tenure("b", 1, 5, 21, 30));
  EXPECT_THAT(history.token_order(), ElementsAre(Check("C2")));
}

TEST(History, C2AllowsAnyOrderAmongThoseThatAskedTogether) {
  History history;
  history.add(reader("a", 2, 0, 10, 20));
  history.add(reader("b", 1, 5, 11, 20));
  EXPECT_THAT(history.token_order(), IsEmpty());
}

TEST(History, C3SeesTwoHolders) {
  History history;
  history.add(tenure("a", 1, 0, 1, 20));
  history.add(tenure("b", 2, 2, 19, 40));
  EXPECT_THAT(history.check(bound), ElementsAre(Check("C3")));
}

TEST(History, C3SeesAnOverlapWithOneThatIsNotTheLastBefore) {
  History history;
  history.add(tenure("a", 1, 0, 1, 100));
  history.add(tenure("b", 2, 1, 2, 3));
  history.add(tenure("c", 3, 2, 50, 60));
  EXPECT_THAT(history.belief_overlap(), SizeIs(2));
}

TEST(History, C3SeesAReaderBesideAWriter) {
  History history;
  history.add(reader("a", 1, 0, 1, 20));
  history.add(reader("b", 2, 0, 2, 15));
  history.add(tenure("c", 3, 3, 18, 30));
  EXPECT_THAT(history.belief_overlap(), ElementsAre(Check("C3")));
}

TEST(History, C3AllowsReadersTogether) {
  History history;
  history.add(reader("a", 1, 0, 1, 20));
  history.add(reader("b", 2, 0, 2, 15));
  history.add(tenure("c", 3, 3, 22, 30));
  EXPECT_THAT(history.check(bound), IsEmpty());
}

TEST(History, C5SeesAGrantThatCameLate) {
  History history;
  history.add(tenure("a", 1, 0, 1, 20));
  history.add(tenure("b", 2, 5, 40, 50));
  EXPECT_THAT(history.check(bound), ElementsAre(Check("C5")));
}

TEST(History, C5SeesAWaiterThatWasNeverWoken) {
  History history;
  history.add(tenure("a", 1, 0, 1, 20));
  history.add(History::Wait{"x", "b", at(5), at(100)});
  EXPECT_THAT(history.check(bound), ElementsAre(Check("C5")));
}

TEST(History, C5KeepsTheLeaseOfADeadHolderForItsTtl) {
  History history;
  auto dead = tenure("a", 1, 0, 1, 20);
  dead.until = at(70);
  history.add(dead);
  history.add(tenure("b", 2, 5, 75, 80));
  EXPECT_THAT(history.check(bound), IsEmpty());
}

TEST(History, C5DoesNotCountTimeInWhichNobodyWaits) {
  History history;
  history.add(tenure("a", 1, 0, 1, 20));
  history.add(History::Wait{"x", "b", at(5), at(15)});
  history.add(tenure("c", 2, 90, 95, 99));
  EXPECT_THAT(history.check(bound), IsEmpty());
}

}  // namespace
}  // namespace holdfast::test
