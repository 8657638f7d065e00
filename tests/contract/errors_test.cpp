// Rules 17 and 18: a lost store is an error in words, and no words hold a secret.

#include "contract/contract.hpp"

namespace holdfast::test {
namespace {

/// Collects all that a client logs.
class Log {
 public:
  ClientOptions options() {
    ClientOptions options;
    options.log = [this](const LogEntry& entry) {
      const std::lock_guard lock(mutex_);
      for (const auto part : {entry.event, entry.store, entry.resource, entry.words})
        text_.append(part) += ' ';
      text_ += '\n';
    };
    return options;
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

class Errors : public Contract {};
HOLDFAST_ON_ALL_STORES(Errors);

TEST_P(Errors, OfTheDriverReachTheCallerWithTheirWords) {
  Faults faults;
  const Client a = faulty(faults);
  faults.all(refuse());
  const auto calls = std::to_array<std::function<void()>>({
      [&] { (void)a.mutex("order:7").acquire(); },
      [&] { (void)a.mutex("order:7").try_acquire(); },
      [&] { (void)a.inspect("order:7"); },
      [&] { (void)a.revoke("order:7"); },
      [&] { (void)a.cell("order:7").read(); },
      [&] { (void)a.cell("order:7").write("", 0); },
      [&] { (void)a.cell("order:7").watch(0, 1s); },
  });
  for (std::size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(i);
    const auto call = [&] {
      calls[i]();
      return 0;
    };
    EXPECT_EQ(error_of(call), errc::unavailable);
    EXPECT_THAT(words_of(call), HasSubstr("the fault that the test asked for"));
  }
  EXPECT_EQ(error_of([&] { return a.list(); }), errc::unavailable);
}

TEST_P(Errors, ComeThoughTheWaitIsForEver) {
  Faults faults;
  const Client a = faulty(faults);
  faults.always(Step::acquire, refuse());
  auto waiting = std::async(std::launch::async,
                            [&] { return error_of([&] { return a.mutex("x").acquire(); }); });
  ASSERT_EQ(waiting.wait_for(patience), std::future_status::ready) << "retried for ever in silence";
  EXPECT_EQ(waiting.get(), errc::unavailable);
}

TEST_P(Errors, KeepTheirKind) {
  Faults faults;
  const Client a = faulty(faults);
  for (const errc code :
       {errc::unavailable, errc::denied, errc::misconfigured, errc::unsupported, errc::unknown}) {
    faults.next(Step::acquire, refuse(code), 2);
    EXPECT_EQ(error_of([&] { return a.mutex("x").acquire(); }), code);
    std::error_code why;
    EXPECT_FALSE(a.mutex("x").try_acquire(why));
    EXPECT_EQ(why, code);
    EXPECT_EQ(why.category(), error_category());
    EXPECT_FALSE(why.message().empty());
  }
}

TEST_P(Errors, OfARenewalAreToldAndTheLeaseStaysDoubtful) {
  Faults faults;
  const Client a = faulty(faults);
  Lease lease = a.mutex("x", {.ttl = long_ttl, .auto_renew = false}).acquire();
  faults.next(Step::renew, refuse(), 1);
  EXPECT_EQ(error_of([&] { lease.renew(); }), errc::unavailable);
  EXPECT_THAT(lease.state(), AnyOf(LeaseState::doubtful, LeaseState::held));
  lease.ensure_held();
}

TEST_P(Errors, OfTheStoreAreLogged) {
  Faults faults;
  Log log;
  const Client a = faulty(faults, log.options());
  Lease lease = a.mutex("order:7", {.ttl = short_ttl}).acquire();
  faults.always(Step::renew, refuse());
  EXPECT_TRUE(eventually([&] { return lease.state() == LeaseState::lost; }));
  EXPECT_TRUE(eventually([&] { return log.text().find("order:7") != std::string::npos; }))
      << log.text();
}

TEST_P(Errors, OfAnotherStoreAreTheirOwn) {
  Faults faults;
  const Client broken = faulty(faults);
  const Client well = client();
  faults.all(refuse());
  EXPECT_EQ(error_of([&] { return broken.mutex("x").acquire(); }), errc::unavailable);
  EXPECT_TRUE(well.mutex("x").try_acquire());
}

TEST(UrlErrors, AreCaughtAtTheDoor) {
  for (const char* bad :
       {"", "nonsense", "://", "nosuchstore://host", "sqlite:", "memory:a?nosuchoption=1",
        "sqlite:///tmp/holdfast-never.db?nosuchoption=1"}) {
    EXPECT_EQ(error_of([&] { return Client(bad); }), errc::bad_url) << bad;
  }
  EXPECT_THAT(words_of([] { return Client("nosuchstore://host"); }),
              testing::AllOf(HasSubstr("nosuchstore"), HasSubstr("sqlite"), HasSubstr("memory")));
  EXPECT_THAT(words_of([] { return Client("memory:a?nosuchoption=1"); }),
              HasSubstr("nosuchoption"));
}

TEST(UrlErrors, OfAStoreThatCannotBeOpenedSayWhichAndWhy) {
  const char* url = "sqlite:///nosuchdirectory/locks.db";
  EXPECT_THAT(error_of([&] { return Client(url); }),
              AnyOf(errc::unavailable, errc::misconfigured, errc::denied));
  EXPECT_THAT(words_of([&] { return Client(url); }), HasSubstr("/nosuchdirectory"));
}

TEST(Secrets, AreNeverPrinted) {
  for (const char* url :
       {"nosuchstore://user:hunter2@host/path", "nosuchstore://host?password=hunter2",
        "nosuchstore://host?token=hunter2", "sqlite://user:hunter2@host/nosuch.db",
        "sqlite:///nosuchdirectory/x.db?password=hunter2", "redis://:hunter2@",
        "memory:x?secret=hunter2", "://user:hunter2@host"}) {
    Log log;
    std::string words = words_of([&] { return Client(url, log.options()); });
    EXPECT_FALSE(words.empty()) << url;
    EXPECT_THAT(words + log.text(), testing::Not(HasSubstr("hunter2"))) << url;
  }
}

}  // namespace
}  // namespace holdfast::test
