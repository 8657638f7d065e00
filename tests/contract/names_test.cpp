// Rule 15: any UTF-8 without control characters, up to 512 bytes; two names never share a lock.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

class Names : public Contract {};
HOLDFAST_ON_ALL_STORES(Names);

std::string repeated(std::string_view part, std::size_t bytes) {
  std::string name;
  while (name.size() + part.size() <= bytes) name += part;
  return name;
}

TEST_P(Names, OfAllKindsAreKeptVerbatim) {
  const std::vector<std::string> names{
      "order:payment:123456",
      "a",
      " ",
      "Straße 7",
      "注文:支払い:123",
      "заказ/оплата",
      "🔒🔑",
      "e\u0301",  // e and a combining accent
      "\u00e9",   // the same in one character: another name
      "\u202eright to left",
      "'; DROP TABLE holdfast_resource; --",
      "a\"b\\c%d_e*f?g[h]{i}",
      "../../etc/passwd",
      "a/b//c/",
      "%2F%00",
      repeated("x", 512),
      repeated("ü", 512),
      repeated("🔒", 512),
  };
  const Client a = client();
  const Client b = client();
  std::vector<Lease> leases;
  for (const auto& name : names) {
    auto lease = a.mutex(name).try_acquire();
    ASSERT_TRUE(lease) << name;
    EXPECT_THAT(lease->names(), ElementsAre(name));
    EXPECT_EQ(truth(name).name, name);
    EXPECT_THAT(truth(name).holders, SizeIs(1)) << name;
    EXPECT_FALSE(b.mutex(name).try_acquire()) << name;
    leases.push_back(*std::move(lease));
  }
  const auto all = b.list();
  EXPECT_THAT(all, SizeIs(names.size()));
  std::vector<std::string> listed;
  for (const auto& info : all) listed.push_back(info.name);
  EXPECT_THAT(listed, testing::UnorderedElementsAreArray(names));
}

TEST_P(Names, ThatAreNearAreTwo) {
  const std::string long_one = repeated("x", 511);
  const std::vector<std::string> names{"x",
                                       "X",
                                       "x ",
                                       " x",
                                       "x.",
                                       "x:",
                                       "x/",
                                       "x%",
                                       "x_",
                                       "xx",
                                       "\u0445" /* cyrillic */,
                                       "x\u200b",
                                       "x:1",
                                       "x:01",
                                       "x:1 ",
                                       "x%3A1",
                                       "x/1",
                                       "x\\1",
                                       long_one,
                                       long_one + "x",
                                       long_one + "y"};
  const Client a = client();
  std::vector<Lease> leases;
  for (const auto& name : names) {
    auto lease = a.mutex(name).try_acquire();
    ASSERT_TRUE(lease) << name << " shares a lock with another";
    leases.push_back(*std::move(lease));
  }
}

TEST_P(Names, ThatAreNotValidAreRefusedAtTheDoor) {
  const Client a = client();
  const std::string too_long(513, 'x');
  for (const std::string& bad :
       {std::string(), too_long, std::string("a\nb"), std::string("tab\t"), std::string("nul\0", 4),
        std::string("\x7f"), std::string("\xc2\x85"), std::string("\xff"),
        std::string("cut \xe2\x82"), std::string("\xc0\xaf"), std::string("\xed\xa0\x80"),
        std::string("\xf4\x90\x80\x80")}) {
    EXPECT_EQ(error_of([&] { return a.mutex(bad); }), errc::bad_name) << bad;
    EXPECT_EQ(error_of([&] { return a.mutex({"good", bad}); }), errc::bad_name) << bad;
    EXPECT_EQ(error_of([&] { return a.shared_mutex(bad); }), errc::bad_name) << bad;
    EXPECT_EQ(error_of([&] { return a.semaphore(bad, 1); }), errc::bad_name) << bad;
    EXPECT_EQ(error_of([&] { return a.cell(bad); }), errc::bad_name) << bad;
    EXPECT_EQ(error_of([&] { return a.inspect(bad); }), errc::bad_name) << bad;
    EXPECT_EQ(error_of([&] { return a.revoke(bad); }), errc::bad_name) << bad;
  }
  EXPECT_THAT(words_of([&] { return a.mutex("a\nb"); }), testing::Not(HasSubstr("\n")));
  EXPECT_THAT(words_of([&] { return a.mutex(too_long); }), HasSubstr("512"));
}

TEST_P(Names, PrefixesAreTakenLiterally) {
  const Client a = client();
  const Lease one = a.mutex("a%b").acquire();
  const Lease two = a.mutex("aXb").acquire();
  const Lease three = a.mutex("a_b").acquire();
  const Lease four = a.mutex("A%b").acquire();
  const auto names = [&](std::string_view prefix) {
    std::vector<std::string> found;
    for (const auto& info : a.list(prefix)) found.push_back(info.name);
    return found;
  };
  EXPECT_THAT(names("a%"), ElementsAre("a%b"));
  EXPECT_THAT(names("a_"), ElementsAre("a_b"));
  EXPECT_THAT(names("A"), ElementsAre("A%b"));
}

TEST_P(Names, ByTheHundredThousandShareNothing) {
  // Folded to 32 bits, some of these would collide (about five pairs in 200 000).
  const int count = rounds(GetParam().several_processes ? 50'000 : 200'000);
  const Client a = client();
  std::vector<Lease> leases;
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    names.push_back("order:" + std::to_string(i) + ":" +
                    std::to_string(static_cast<unsigned>(i) * 2654435761u));
    if (names.size() < 64 && i + 1 < count) continue;
    auto lease = a.mutex(names, {.ttl = 2 * long_ttl}).try_acquire();
    ASSERT_TRUE(lease) << "false contention near name " << i;
    leases.push_back(*std::move(lease));
    names.clear();
  }
  for (const auto& lease : leases) ASSERT_EQ(lease.state(), LeaseState::held);
}

}  // namespace
}  // namespace holdfast::test
