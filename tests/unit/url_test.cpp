#include "base/url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using Host = Url::Host;

Url parsed(std::string_view text) { return Url::parse(text).take(); }

std::string words_for(std::string_view text) {
  const auto url = Url::parse(text);
  if (url.ok()) return "valid";
  EXPECT_EQ(url.failure().code, errc::bad_url);
  return url.failure().words;
}

TEST(Url, HasAllParts) {
  const auto url = parsed("redis://alice:s3%40cret@db-1.example.com:6380/0?tls=on&name=a%20b");
  EXPECT_EQ(url.scheme(), "redis");
  EXPECT_EQ(url.user(), "alice");
  EXPECT_EQ(url.password(), "s3@cret");
  EXPECT_THAT(url.hosts(), ElementsAre(Host{"db-1.example.com", 6380}));
  EXPECT_EQ(url.path(), "/0");
  EXPECT_THAT(url.options(), ElementsAre(Pair("name", "a b"), Pair("tls", "on")));
  EXPECT_EQ(url.option("tls"), "on");
  EXPECT_EQ(url.option("TLS"), std::nullopt);
}

TEST(Url, OptionsMayBeBareAndKeepTheirPlus) {
  const auto url = parsed("etcd://h?verbose&token=a+b=&empty=");
  EXPECT_EQ(url.option("verbose"), "");
  EXPECT_EQ(url.option("token"), "a+b=") << "base64 stays what it is";
  EXPECT_EQ(url.option("empty"), "");
}

TEST(Url, TheSchemeIsLowerCase) {
  EXPECT_EQ(parsed("REDIS+Sentinel://h").scheme(), "redis+sentinel");
}

TEST(Url, HasAListOfHosts) {
  EXPECT_THAT(parsed("etcd://h1:1,[::1]:2,10.0.0.3").hosts(),
              ElementsAre(Host{"h1", 1}, Host{"::1", 2}, Host{"10.0.0.3", 0}));
  const auto url = parsed("redis+sentinel://u:a,b@h1,h2/mymaster?x=y");
  EXPECT_EQ(url.password(), "a,b");
  EXPECT_THAT(url.hosts(), ElementsAre(Host{"h1", 0}, Host{"h2", 0}));
  EXPECT_EQ(url.path(), "/mymaster");
  EXPECT_EQ(url.option("x"), "y");
}

TEST(Url, NeedsNoHosts) {
  EXPECT_EQ(parsed("sqlite:relative.db").path(), "relative.db");
  EXPECT_EQ(parsed("sqlite:dir/my%20locks.db?timeout=5s").path(), "dir/my locks.db");
  EXPECT_EQ(parsed("sqlite:///abs.db").path(), "/abs.db");
  EXPECT_EQ(parsed("sqlite:/abs.db").path(), "/abs.db");
  EXPECT_EQ(parsed("sqlite:///home/me@corp/locks.db").path(), "/home/me@corp/locks.db");
  EXPECT_EQ(parsed("memory:").path(), "");
  EXPECT_EQ(parsed("memory:NAME").path(), "NAME");
  for (const auto* text : {"sqlite:relative.db", "sqlite:///abs.db", "memory:", "memory:NAME"})
    EXPECT_TRUE(parsed(text).hosts().empty()) << text;
}

TEST(Url, BadHostsAndPortsAreRefused) {
  EXPECT_EQ(words_for("redis://h:99999"),
            "store URL \"redis://h:99999\" is wrong: the port of host 1 is not 1 to 65535");
  for (const auto* bad : {"redis://h:", "redis://h:0", "redis://h:65536", "redis://h:4294967297"})
    EXPECT_THAT(words_for(bad), HasSubstr("the port of host 1 is not 1 to 65535")) << bad;
  for (const auto* bad : {"redis://::1", "redis://[::1", "redis://h:1x", "redis://[::1]x"})
    EXPECT_THAT(words_for(bad), HasSubstr("host 1 is not name, name:port or [IPv6]:port")) << bad;
  for (const auto* bad : {"redis://h1,,h2", "redis://h1,", "redis://h1,:1"})
    EXPECT_THAT(words_for(bad), HasSubstr("host 2 is empty")) << bad;
  for (const auto* bad : {"redis://,h", "redis://u:p@/0", "redis://:1"})
    EXPECT_THAT(words_for(bad), HasSubstr("host 1 is empty")) << bad;
}

TEST(Url, ControlCharactersAreRefusedInEveryPart) {
  for (const auto* bad :
       {"redis://%00@h", "redis://u:%00@h", "redis://h%00", "redis://h/%00", "redis://h?%00=1",
        "redis://h?a=%00", "redis://h/%0A", "redis://h/%1b", "redis://h/%7F", "redis://h/%C2%9b"})
    EXPECT_THAT(words_for(bad), HasSubstr("has a control character in its")) << bad;
  for (const auto* bad : {"redis://h/\n", "redis://h/\xC3\xA9", "redis://h/a b", "sqlite:C:\\x.db"})
    EXPECT_THAT(words_for(bad), HasSubstr("must be percent-encoded (a blank is %20)")) << bad;
  EXPECT_THAT(words_for(std::string_view("redis://h/\0", 11)), HasSubstr("\\x00")) << "none hides";
  for (const auto* bad : {"redis://h/%", "redis://h/%4", "redis://h/%4g"})
    EXPECT_THAT(words_for(bad), HasSubstr("without two hexadecimal digits")) << bad;
}

TEST(Url, WhatIsNoUrlIsRefused) {
  for (const auto* bad : {"", ":", "://", "127.0.0.1:6379", "/tmp/locks.db", "//h", "1redis://h"})
    EXPECT_THAT(words_for(bad), HasSubstr("is not of the form scheme://")) << bad;
  EXPECT_THAT(words_for("redis://h?a=1&a=2"), HasSubstr("has the option \"a\" twice"));
  EXPECT_THAT(words_for("redis://h?=1"), HasSubstr("an option without a name"));
  EXPECT_THAT(words_for("redis://h#top"), HasSubstr("write %23"));
}

TEST(Url, TooLongIsRefusedInFewWords) {
  const auto words = words_for("redis://h/" + std::string(1'000'000, 'x'));
  EXPECT_THAT(words, HasSubstr("is longer than 4096 bytes"));
  EXPECT_LT(words.size(), 300U);
}

TEST(Url, UnknownOptionsAreRefusedWithTheKnownOnes) {
  const auto url = parsed("sqlite:x.db?timeuot=5s&key=hush");
  EXPECT_FALSE(url.check_options({"key", "timeuot"}));
  const auto failure = url.check_options({"timeout", "key"});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, errc::bad_url);
  EXPECT_EQ(failure->words,
            "store URL \"sqlite:x.db?timeuot=5s&key=***\" has the unknown option \"timeuot\"; "
            "sqlite stores know timeout, key");
  EXPECT_THAT(url.check_options({})->words, HasSubstr("sqlite stores know none"));
}

TEST(UrlSecrets, AreHiddenWhenTheUrlIsShown) {
  EXPECT_EQ(parsed("redis://alice:hush@h:1/0?a=b").redacted(), "redis://alice:***@h:1/0?a=b");
  EXPECT_EQ(parsed("redis://:hush@h").redacted(), "redis://:***@h");
  EXPECT_EQ(parsed("redis://alice@h").redacted(), "redis://alice@h");
  EXPECT_EQ(parsed("consul://h?token=hush&dc=1").redacted(), "consul://h?token=***&dc=1");
  EXPECT_EQ(parsed("x://h?SSLPassword=hush&secret=hush&access_key=hush&n=1").redacted(),
            "x://h?SSLPassword=***&secret=***&access_key=***&n=1");
  EXPECT_EQ(parsed("x://h?p%61ss%77ord=hush").redacted(), "x://h?p%61ss%77ord=***");
}

TEST(UrlSecrets, AreHiddenWhenTheUrlIsRefused) {
  for (const auto* bad : {"redis://alice:hush@h:99999",
                          "redis://alice:hu@hush@h",
                          "redis://alice:hush/x@h:1",
                          "redis://alice:x/hush@h",
                          "redis://alice:x?hush@h",
                          "redis://alice:x#hush@h",
                          "redis://alice:hush hush@h",
                          "redis://alice:hush%zz@h",
                          "redis://alice:x%00hush@h",
                          "alice:hush@h:1",
                          "redis:alice:hush@h:1",
                          "redis:/alice:hush@h",
                          "redis//alice:hush@h",
                          "redis:///alice:hush@h",
                          "1redis://alice:hush@h",
                          " redis://alice:hush@h",
                          "redis://a@b:hush@h",
                          "redis://h:0?password=hush",
                          "redis://h:0?x=a@b&password=hush",
                          "redis://h:0?password=hush@hush",
                          "redis://a:x?key=s@h:1/&hush@h",
                          "redis://h?token=hush#",
                          "redis://alice:hush@",
                          "redis://h&token=hush:0",
                          "redis://h&token=x,hush:0"}) {
    EXPECT_NE(words_for(bad), "valid") << bad;
    EXPECT_THAT(words_for(bad), Not(HasSubstr("hush"))) << bad;
    EXPECT_THAT(words_for(bad), HasSubstr("***")) << bad;
  }
  EXPECT_THAT(words_for("redis://alice:" + std::string(5'000, 'x') + "hush@h"),
              HasSubstr("alice:***@h"));
}

TEST(UrlSecrets, ALooseAtSignIsExplained) {
  EXPECT_THAT(words_for("redis://alice:p@ss@h"),
              HasSubstr("write %40, and / as %2F in a password"));
  EXPECT_THAT(words_for("redis://alice:p/ss@h"),
              HasSubstr("write %40, and / as %2F in a password"));
}

}  // namespace
}  // namespace holdfast
