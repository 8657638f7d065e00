// ls, inspect, revoke, info, watch: what scripts and people read.

#include <signal.h>

#include "cli/tool.hpp"

namespace holdfast::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class StoreCommands : public Tool {
 protected:
  Process hold(Words options) {
    auto holder = start(run_script(std::move(options), "echo ready; read -r line"));
    EXPECT_EQ(holder.read_line(), "ready") << errors();
    return holder;
  }
};

TEST_F(StoreCommands, inspect_as_json) {
  const auto unknown = inspect("job");
  EXPECT_EQ(unknown["name"], "job");
  EXPECT_EQ(unknown["holders"], nlohmann::json::array());
  EXPECT_EQ(unknown["waiters"], nlohmann::json::array());

  auto holder = hold({"job", "--owner", "me", "--note", "nightly", "--ttl", "20s"});
  auto waiter = start(run_script({"job", "--shared", "--owner", "you"}, "true"));
  ASSERT_TRUE(eventually([&] { return inspect("job")["waiters"].size() == 1; }));
  const auto job = inspect("job");
  ASSERT_EQ(job["holders"].size(), 1U);
  const auto& h = job["holders"][0];
  EXPECT_EQ(h["owner"], "me");
  EXPECT_EQ(h["note"], "nightly");
  EXPECT_EQ(h["mode"], "exclusive");
  EXPECT_GT(h["token"], 0U);
  EXPECT_EQ(h["token"], job["token"]);
  EXPECT_GT(h["expires_in_ms"], 0);
  EXPECT_LE(h["expires_in_ms"], 20'000);
  EXPECT_THAT(h["since"].get<std::string>(), MatchesRegex("....-..-..T..:..:..\\....Z"));
  const auto& w = job["waiters"][0];
  EXPECT_EQ(w["owner"], "you");
  EXPECT_EQ(w["mode"], "shared");
  EXPECT_EQ(w["alive"], true);
  holder.write("go on");
  EXPECT_EQ(code_of(waiter), 0);
}

TEST_F(StoreCommands, inspect_and_ls_for_people) {
  EXPECT_THAT(run({"inspect", "job"}).out, HasSubstr("free"));
  const auto nothing = run({"ls"});
  EXPECT_EQ(nothing.code, 0);
  EXPECT_EQ(nothing.out, "");
  EXPECT_THAT(nothing.err, HasSubstr("nothing is held"));

  const auto a = hold({"café:1", "--note", "x"});
  const auto b = hold({"job", "--shared"});
  const auto lines = run({"ls"}).out;
  // The columns stand in line though é takes two bytes.
  EXPECT_THAT(lines, HasSubstr("NAME    MODE"));
  EXPECT_THAT(lines, HasSubstr("\ncafé:1  exclusive"));
  EXPECT_THAT(lines, HasSubstr("\njob     shared"));
  EXPECT_THAT(run({"inspect", "job"}).out, HasSubstr("HELD BY"));
}

TEST_F(StoreCommands, ls_as_json_with_prefix_and_limit) {
  const auto a = hold({"order:1"});
  const auto b = hold({"order:2", "user:1"});
  const auto all = json_lines(run({"ls", "--json"}).out);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0]["name"], "order:1");
  EXPECT_EQ(all[0]["holders"].size(), 1U);
  EXPECT_EQ(json_lines(run({"ls", "order:", "--json"}).out).size(), 2U);
  const auto limited = run({"ls", "--json", "--limit", "1"});
  EXPECT_EQ(json_lines(limited.out).size(), 1U);
  EXPECT_THAT(limited.err, HasSubstr("more than 1"));
  EXPECT_EQ(run({"ls", "nothing", "--json"}).out, "");
}

// B56: a forced unlock says exactly what it did.
TEST_F(StoreCommands, B56_revoke_says_what_it_did) {
  auto nothing = run({"revoke", "job"});
  EXPECT_EQ(nothing.code, 1);
  EXPECT_EQ(nothing.out, "");
  EXPECT_THAT(nothing.err, HasSubstr("was not held"));

  auto holder = hold({"job", "--owner", "me"});
  const auto token = inspect("job")["token"].get<std::uint64_t>();
  const auto revoked = json_lines(run({"revoke", "job", "--json"}).out).at(0);
  EXPECT_EQ(revoked["name"], "job");
  EXPECT_EQ(revoked["revoked"], 1);
  EXPECT_EQ(revoked["holders"][0]["owner"], "me");
  EXPECT_EQ(code_of(holder), 76);
  EXPECT_GT(inspect("job")["token"], token);
  EXPECT_EQ(json_lines(run({"revoke", "job", "--json"}).out).at(0)["revoked"], 0);

  const auto one = hold({"book", "--shared"}), two = hold({"book", "--shared"});
  EXPECT_THAT(run({"revoke", "book"}).out, HasSubstr("from 2 holders"));
}

TEST_F(StoreCommands, info) {
  EXPECT_THAT(run({"info"}).out, HasSubstr("first come, first served"));
  const auto object = json_lines(run({"info", url(), "--json"}).out).at(0);
  EXPECT_EQ(object["store"], "sqlite");
  EXPECT_EQ(object["exclusive"], true);
  EXPECT_EQ(object["url"], url());
  EXPECT_EQ(json_lines(run({"info", "memory:", "--json"}).out).at(0)["store"], "memory");
}

TEST_F(StoreCommands, watch_follows_a_name) {
  auto watch = start({"watch", "job", "--json"});
  const auto next = [&] { return nlohmann::json::parse(watch.read_line().value_or("null")); };
  EXPECT_EQ(next()["event"], "free");

  auto holder = hold({"job", "--owner", "me"});
  auto event = next();
  EXPECT_EQ(event["event"], "granted");
  EXPECT_EQ(event["owner"], "me");
  EXPECT_EQ(event["waiters"], 0);

  auto waiter = start(run_script({"job", "--owner", "you"}, "read -r line"));
  event = next();
  EXPECT_EQ(event["event"], "waiters");
  EXPECT_EQ(event["waiters"], 1);

  holder.write("go on");
  event = next();
  EXPECT_EQ(event["event"], "released");
  EXPECT_EQ(event["owner"], "me");
  event = next();
  EXPECT_EQ(event["event"], "granted");
  EXPECT_EQ(event["owner"], "you");

  watch.signal(SIGINT);
  EXPECT_EQ(code_of(watch), 0);
  EXPECT_EQ(errors(), "");
}

TEST_F(StoreCommands, a_full_disk_behind_standard_output_is_told) {
  Process full({"/bin/sh", "-c", "\"$0\" version >/dev/full 2>/dev/null", HOLDFAST_CLI_PATH});
  EXPECT_EQ(code_of(full), 1);
}

TEST_F(StoreCommands, closed_standard_streams_do_no_harm) {
  Process closed({"/bin/sh", "-c", "\"$0\" run job -- /bin/true <&- >&- 2>&-", HOLDFAST_CLI_PATH},
                 {"HOLDFAST_STORE=" + url()});
  EXPECT_EQ(code_of(closed), 0);
  EXPECT_FALSE(held("job"));
}

}  // namespace
}  // namespace holdfast::test
