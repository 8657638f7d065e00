// What is wrong with a command line is said at the door, with what was meant: exit code 64.

#include "cli/tool.hpp"

namespace holdfast::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Mistake {
  Words arguments;
  std::string words;  ///< that the answer must hold
};

using Usage = Tool;

const std::vector<Mistake> mistakes{
    Mistake{{"rnu", "x"}, "\"holdfast run\""},
    Mistake{{"bogus"}, "See holdfast --help"},
    Mistake{{"ls", "--jsn"}, "--json"},
    Mistake{{"run", "x", "--waitt", "1s", "--", "true"}, "--wait"},
    Mistake{{"run", "x", "--wait", "10", "--", "true"}, "did you mean 10s?"},
    Mistake{{"run", "x", "--ttl", "30sec", "--", "true"}, "did you mean 30s?"},
    Mistake{{"run", "x", "--grace", "-1s", "--", "true"}, "--grace"},
    Mistake{{"run", "x", "--max-hold", "0", "--", "true"}, "--max-hold"},
    Mistake{{"run", "x", "--ttl", "1ms", "--", "true"}, "100"},
    Mistake{{"run", "x", "--wait", "1s", "--no-wait", "--", "true"}, "--no-wait"},
    Mistake{{"run", "x", "--shared", "--permits", "2", "--", "true"}, "--shared"},
    Mistake{{"run", "x", "--permits", "0", "--", "true"}, "--permits"},
    Mistake{{"run", "x", "y", "--permits", "2", "--", "true"}, "Give one NAME"},
    Mistake{{"run", "x", "--on-loss", "cry", "--", "true"}, "--on-loss"},
    Mistake{{"run", "x"}, "holdfast run NAME -- COMMAND"},
    Mistake{{"run", "x", "--"}, "holdfast run NAME -- COMMAND"},
    Mistake{{"run", "--", "true"}, "no NAME"},
    Mistake{{"run", "job", "./backup", "now"}, "holdfast run job -- ./backup"},
    Mistake{{"run", "", "--", "true"}, "the resource name is empty"},
    Mistake{{"run", "a\nb", "--", "true"}, "U+000A"},
    Mistake{{"inspect", "a\tb"}, "U+0009"},
    Mistake{{"inspect", "\xff"}, "UTF-8"},
    Mistake{{"revoke", std::string(513, 'x')}, "512"},
    Mistake{{"inspect"}, "NAME"},
    Mistake{{"run", "x", "--note", "a\nb", "--", "true"}, "--note"},
    Mistake{{"info", "nosuch://host"}, "sqlite"},
    Mistake{{"info", "locks.db"}, "store URL"},
    Mistake{{"ls", "--store", ""}, "is empty"},
    Mistake{{"ls", "--limit", "0"}, "--limit"},
    Mistake{{"demo", "sale", "--buyers", "0"}, "--buyers"},
    Mistake{{"demo"}, "demo"},
    Mistake{{"completion", "tcsh"}, "bash"}};

TEST_F(Usage, says_what_was_meant) {
  for (const auto& mistake : mistakes) {
    const auto result = run(mistake.arguments);
    SCOPED_TRACE(::testing::PrintToString(mistake.arguments));
    EXPECT_EQ(result.code, 64);
    EXPECT_THAT(result.err, StartsWith("holdfast: "));
    EXPECT_THAT(result.err, HasSubstr(mistake.words));
    EXPECT_EQ(result.out, "");
  }
}

TEST_F(Usage, secrets_are_never_shown) {
  const auto result = run({"info", "sqlite://user:topsecret@host:99999/x"});
  EXPECT_EQ(result.code, 64);
  EXPECT_THAT(result.err, Not(HasSubstr("topsecret")));
}

TEST_F(Usage, help_has_examples) {
  for (const Words& command :
       {Words{"run"}, Words{"ls"}, Words{"inspect"}, Words{"revoke"}, Words{"watch"}, Words{"info"},
        Words{"demo", "sale"}, Words{"completion"}, Words{}}) {
    auto arguments = command;
    arguments.emplace_back("--help");
    const auto result = run(arguments);
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.out, HasSubstr("Usage: holdfast"));
    EXPECT_THAT(result.out, HasSubstr("Examples:\n"));
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(Usage, no_argument_shows_the_help) {
  const auto result = run({});
  EXPECT_EQ(result.code, 64);
  EXPECT_THAT(result.err, HasSubstr("Usage: holdfast"));
}

TEST_F(Usage, version) {
  EXPECT_THAT(run({"--version"}).out, StartsWith("holdfast "));
  EXPECT_THAT(json_lines(run({"version", "--json"}).out).at(0)["stores"].dump(),
              HasSubstr("sqlite"));
}

}  // namespace
}  // namespace holdfast::test
