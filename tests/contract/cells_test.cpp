// Cells: small values whose version rises with each write.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class Cells : public Contract {
 protected:
  void SetUp() override { ASSERT_TRUE(admin_.capabilities().cells); }
};
HOLDFAST_ON_ALL_STORES(Cells);

TEST_P(Cells, StartEmptyAtVersionZero) {
  const auto value = another().cell("never").read();
  EXPECT_EQ(value.value, "");
  EXPECT_EQ(value.version, 0u);
}

TEST_P(Cells, AreWrittenAtTheExpectedVersionOnly) {
  const Cell mine = another().cell("leader");
  const Cell theirs = another().cell("leader");
  const auto first = mine.write("a", 0);
  EXPECT_GT(first, 0u);
  EXPECT_EQ(theirs.read().value, "a");
  EXPECT_EQ(theirs.read().version, first);
  EXPECT_EQ(error_of([&] { return theirs.write("b", 0); }), errc::conflict);
  EXPECT_EQ(error_of([&] { return theirs.write("b", first + 1); }), errc::conflict);
  const auto second = theirs.write("b", first);
  EXPECT_GT(second, first);
  EXPECT_EQ(error_of([&] { return mine.write("c", first); }), errc::conflict);
  EXPECT_EQ(mine.read().value, "b");
}

TEST_P(Cells, HoldAnyBytesUpToTheirLimit) {
  const Cell cell = another().cell("bytes");
  std::string bytes(64 * 1024, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  auto version = cell.write(bytes, 0);
  EXPECT_EQ(cell.read().value, bytes);
  EXPECT_EQ(error_of([&] { return cell.write(bytes + "x", version); }), errc::bad_argument);
  version = cell.write("", version);
  EXPECT_EQ(cell.read().value, "");
  EXPECT_EQ(cell.read().version, version);
}

TEST_P(Cells, AreApartFromResources) {
  const Client a = client();
  const Lease lease = a.mutex("x").acquire();
  EXPECT_EQ(a.cell("x").read().version, 0u);
  a.cell("x").write("value", 0);
  EXPECT_THAT(admin_.list(), SizeIs(1));
  EXPECT_EQ(admin_.revoke("x"), 1u);
  EXPECT_EQ(a.cell("x").read().value, "value");
}

TEST_P(Cells, CountWithoutLosingAny) {
  const int each = rounds(60);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&, cell = another().cell("count")] {
        for (int done = 0; done < each;) {
          const auto now = cell.read();
          const int count = now.version ? std::stoi(now.value) : 0;
          done += !error_of([&] { return cell.write(std::to_string(count + 1), now.version); });
        }
      });
  }
  EXPECT_EQ(another().cell("count").read().value, std::to_string(4 * each));
}

TEST_P(Cells, AWatchEndsWithTheNextWrite) {
  const Cell reader = another().cell("config");
  const Cell writer = another().cell("config");
  std::uint64_t version = 0;
  for (int i = 0; i < 5; ++i) {
    auto watching =
        std::async(std::launch::async, [&, version] { return reader.watch(version, patience); });
    EXPECT_EQ(watching.wait_for(i % 2 * 10ms), std::future_status::timeout);
    version = writer.write(std::to_string(i), version);
    const auto written = boot_clock::now();
    const auto seen = watching.get();
    ASSERT_TRUE(seen);
    EXPECT_LT(boot_clock::now(), written + wake_up_bound());
    EXPECT_EQ(seen->version, version);
    EXPECT_EQ(seen->value, std::to_string(i));
  }
}

TEST_P(Cells, AWatchReturnsAtOnceWhatIsNewAlready) {
  const Cell cell = another().cell("config");
  const auto version = cell.write("value", 0);
  const auto seen = cell.watch(0, 0ms);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->version, version);
}

TEST_P(Cells, AWatchEndsWithItsBudget) {
  const Cell cell = another().cell("config");
  const auto version = cell.write("value", 0);
  const auto before = boot_clock::now();
  EXPECT_FALSE(cell.watch(version, 100ms));
  EXPECT_GE(boot_clock::now(), before + 100ms);
  EXPECT_LT(boot_clock::now(), before + 100ms + lateness);
  EXPECT_FALSE(cell.watch(version, 0ms));
}

TEST_P(Cells, NoWriteIsMissedByAChainOfWatches) {
  const int writes = rounds(300);
  const Cell reader = another().cell("chain");
  const Cell writer = another().cell("chain");
  std::jthread writing([&] {
    std::uint64_t version = 0;
    for (int i = 1; i <= writes; ++i) version = writer.write(std::to_string(i), version);
  });
  std::uint64_t version = 0;
  for (int seen = 0; seen < writes;) {
    const auto next = reader.watch(version, patience);
    ASSERT_TRUE(next) << "after " << seen;
    EXPECT_GT(next->version, version);
    EXPECT_GT(std::stoi(next->value), seen);
    version = next->version;
    seen = std::stoi(next->value);
  }
}

TEST_P(Cells, AWriteWhoseAnswerIsLostIsUnknown) {
  Faults faults;
  const Client a = faulty(faults);
  faults.next(Step::write, lose_reply());
  EXPECT_EQ(error_of([&] { return a.cell("x").write("value", 0); }), errc::unknown);
  EXPECT_EQ(a.cell("x").read().value, "value");
}

class CellsOfStoresThatKeep : public Cells {};
HOLDFAST_ON_STORES_WITH(keeps, CellsOfStoresThatKeep);

TEST_P(CellsOfStoresThatKeep, AreThereWhenAllClientsHaveGone) {
  std::uint64_t version = 0;
  for (int i = 0; i < 3; ++i) {
    admin_ = Client("memory:elsewhere");
    const Client only = client();
    EXPECT_EQ(only.cell("x").read().version, version);
    const auto next = only.cell("x").write("value", version);
    EXPECT_GT(next, version);
    version = next;
  }
}

}  // namespace
}  // namespace holdfast::test
