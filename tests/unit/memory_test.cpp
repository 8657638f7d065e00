#include "drivers/memory/memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "driver/registry.hpp"

namespace holdfast::memory {
namespace {

using namespace std::chrono_literals;
using driver::Event;
using driver::Grant;
using driver::Released;
using driver::Request;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

/// A client as far as its driver: a loop of its own.
class Client {
 public:
  explicit Client(const std::string& url) {
    on_loop([&] {
      driver = driver::open(Url::parse(url).take(),
                            {.loop = loop,
                             .clock = Clock::system(),
                             .event = [this](const Event& event) { events.push_back(event); },
                             .log = {},
                             .request_timeout = 5s})
                   .take();
    });
  }
  ~Client() {
    on_loop([&] { driver.reset(); });
  }

  void on_loop(const std::function<void()>& work) {
    Loop::Call call(loop);
    call.start([&] {
      work();
      call.done();
    });
    call.wait();
  }
  bool comes(const std::function<bool()>& condition) {
    for (const Instant end = boot_clock::now() + 10s; boot_clock::now() < end;) {
      bool met = false;
      on_loop([&] { met = condition(); });
      if (met) return true;
      Loop::Call idle(loop);  // drives the loop for a moment
      (void)idle.wait_until(boot_clock::now() + 1ms);
    }
    return false;
  }
  driver::RequestPtr acquire(const std::string& name, Instant deadline = Instant::max()) {
    auto request = std::make_shared<Request>();
    request->id = Id::random();
    request->names = std::vector<std::string>{name};
    request->ttl = 30s;
    request->deadline = deadline;
    on_loop([&] {
      driver->acquire(request, [this](Result<Grant> grant) { answer.emplace(std::move(grant)); });
    });
    return request;
  }
  void release(const driver::RequestPtr& lease) {
    on_loop([&] { driver->release(lease, {}); });
  }
  bool granted() const { return answer && answer->ok(); }

  Loop loop;
  std::unique_ptr<driver::Driver> driver;
  std::optional<Result<Grant>> answer;
  std::vector<Event> events;
};

TEST(Memory, ClientsOfOneNameShareASpace) {
  Client a("memory:shared"), b("memory:shared"), c("memory:other");
  a.acquire("x");
  b.acquire("x", Instant::min());
  c.acquire("x", Instant::min());
  EXPECT_TRUE(a.granted());
  EXPECT_FALSE(b.granted());
  EXPECT_EQ(b.answer->failure().code, errc::timeout);
  EXPECT_TRUE(c.granted());
}

TEST(Memory, HandOverCrossesLoops) {
  Client a("memory:"), b("memory:");
  const auto lease = a.acquire("x");
  b.acquire("x");
  EXPECT_FALSE(b.answer.has_value());
  ASSERT_TRUE(a.comes([&] { return !a.events.empty(); })) << "b wants it";
  EXPECT_EQ(a.events[0].kind, Event::Kind::wanted);
  const Instant before = boot_clock::now();
  a.release(lease);
  ASSERT_TRUE(b.comes([&] { return b.granted(); }));
  EXPECT_LT(boot_clock::now() - before, 1s) << "by its bell, not by its heartbeat";
  EXPECT_GT(b.answer->value().tokens.front(), a.answer->value().tokens.front());
}

TEST(Memory, WaiterOfAClosedClientIsGone) {
  Client a("memory:"), c("memory:");
  const auto lease = a.acquire("x");
  {
    Client b("memory:");
    b.acquire("x");
  }
  c.acquire("x");
  a.release(lease);
  ASSERT_TRUE(c.comes([&] { return c.granted(); }));
}

TEST(Memory, SpaceLivesAsLongAsItIsOpen) {
  {
    Client a("memory:short");
    a.acquire("x");
  }
  Client b("memory:short");
  b.acquire("x", Instant::min());
  EXPECT_TRUE(b.granted());
}

TEST(Memory, TokensRiseThoughIdleRecordsAreDropped) {
  Client a("memory:");
  std::uint64_t highest = 0;
  for (int i = 0; i < 10'000; ++i) {
    a.release(a.acquire("x" + std::to_string(i % 5'000)));
    ASSERT_TRUE(a.granted());
    if (i % 5'000 != 0) continue;
    EXPECT_GT(a.answer->value().tokens.front(), highest);
    highest = a.answer->value().tokens.front();
  }
}

TEST(Memory, RefusesWhatAUrlCannotMean) {
  Loop loop;
  const auto words_for = [&](const char* text) {
    const auto opened = driver::open(
        Url::parse(text).take(),
        {.loop = loop, .clock = Clock::system(), .event = {}, .log = {}, .request_timeout = 5s});
    EXPECT_FALSE(opened.ok());
    EXPECT_EQ(opened.failure().code, errc::bad_url);
    return opened.failure().words;
  };
  EXPECT_THAT(words_for("memory:x?sync=full"), HasSubstr("sync"));
  EXPECT_THAT(words_for("memory://host/x"), HasSubstr("has no host"));
  EXPECT_THAT(words_for("floppy:x"), HasSubstr("memory:"));
  EXPECT_THAT(driver::schemes(), Contains("memory"));
}

}  // namespace
}  // namespace holdfast::memory
