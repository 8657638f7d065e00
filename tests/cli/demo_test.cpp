// `holdfast demo sale`: the second half sells exactly what is there, whatever happens to the
// buyers.

#include <signal.h>

#include <filesystem>

#include "cli/tool.hpp"

namespace holdfast::test {
namespace {

using ::testing::HasSubstr;

class Demo : public Tool {
 protected:
  Result demo(Words options, const Words& environment = {}) {
    options.insert(options.begin(), {"demo", "sale"});
    auto variables = environment;
    variables.push_back("TMPDIR=" + scratch_.path().string());
    return run(options, variables);
  }
  /// What the demo left behind.
  std::size_t leftovers() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(scratch_.path()))
      count += entry.path().filename().string().starts_with("holdfast-demo");
    return count;
  }
};

void expect_exact(const nlohmann::json& half, int items) {
  EXPECT_EQ(half["lock"], "holdfast");
  EXPECT_EQ(half["sold"], items);
  EXPECT_EQ(half["oversold"], 0);
  EXPECT_EQ(half["left"], 0);
  EXPECT_GT(half["acquisitions_per_s"], 0);
  EXPECT_GE(half["wait_p99_us"], half["wait_p50_us"]);
}

TEST_F(Demo, as_json) {
  const auto result = demo({"--items", "12", "--buyers", "4", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto halves = json_lines(result.out);
  ASSERT_EQ(halves.size(), 2U);
  EXPECT_EQ(halves[0]["lock"], "none");
  EXPECT_GE(halves[0]["sold"], 12);
  EXPECT_EQ(halves[0]["oversold"], halves[0]["sold"].get<int>() - 12);
  EXPECT_EQ(halves[0]["rejected_writes"], 0);
  EXPECT_GT(halves[0]["seconds"], 0);
  expect_exact(halves[1], 12);
  EXPECT_EQ(halves[1]["rejected_writes"], 0);
  EXPECT_EQ(leftovers(), 0U);
  EXPECT_EQ(result.err, "");
}

TEST_F(Demo, without_a_lock_it_oversells) {
  const auto halves = json_lines(demo({"--items", "60", "--json"}).out);
  ASSERT_EQ(halves.size(), 2U);
  EXPECT_GT(halves[0]["oversold"], 0);
  expect_exact(halves[1], 60);
}

TEST_F(Demo, for_people_on_a_given_store) {
  const auto result = demo({"--items", "5", "--buyers", "2", "--store", url()});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("OVERSOLD"));
  EXPECT_THAT(result.out, HasSubstr("exactly 5 were sold"));
  EXPECT_THAT(result.out, HasSubstr("Try next:"));
  EXPECT_GT(inspect("shop:item:1")["token"], 0U);
}

TEST_F(Demo, chaos) {
  const auto result = demo({"--items", "20", "--buyers", "4", "--chaos", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto halves = json_lines(result.out);
  ASSERT_EQ(halves.size(), 2U);
  expect_exact(halves[1], 20);
  EXPECT_GT(halves[1]["kills"].get<int>() + halves[1]["stops"].get<int>(), 0);
}

TEST_F(Demo, an_interrupted_demo_leaves_nothing) {
  auto process = start({"demo", "sale", "--items", "100000", "--json"},
                       {"TMPDIR=" + scratch_.path().string()});
  ASSERT_TRUE(eventually([&] { return leftovers() == 1; }));
  process.signal(SIGINT);
  EXPECT_EQ(code_of(process), 128 + SIGINT);
  EXPECT_EQ(leftovers(), 0U);
}

TEST_F(Demo, a_store_out_of_reach_is_told_before_the_show) {
  const auto result = demo({"--store", "sqlite:///no/such/directory/locks.db"});
  EXPECT_EQ(result.code, 69);
  EXPECT_EQ(result.out, "");
}

}  // namespace
}  // namespace holdfast::test
