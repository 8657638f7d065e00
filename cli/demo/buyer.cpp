#include "demo/buyer.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <CLI/App.hpp>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <thread>

#include <holdfast/client.hpp>

#include "command.hpp"
#include "demo/shop.hpp"
#include "message.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

struct Options {
  pid_t parent = 0;
  unsigned buyer = 0;
  std::string shop, lock;
  unsigned ttl_ms = 30'000;
  bool chaos = false;
};

class Buyer {
 public:
  explicit Buyer(const Options& options)
      : options_(options), shop_(options.shop), random_(options.buyer + 1) {}

  void tell(BuyerEvent::Kind kind, std::int64_t value = 0) const {
    const BuyerEvent event{kind, 0, static_cast<std::uint16_t>(options_.buyer),
                           static_cast<std::uint32_t>(value)};
    if (::write(buyer_events, &event, sizeof event) != sizeof event) ::_exit(failed);
  }

  /// As an application without a lock does it. False when sold out.
  bool buy() {
    const auto stock = shop_.stock();
    if (stock <= 0) return false;
    think();
    if (shop_.sell(stock - 1, options_.buyer, std::nullopt)) tell(BuyerEvent::Kind::sold);
    return true;
  }

  /// The same under a lock. It does not ask whether the lease is still held: it plays the process
  /// that was frozen after it had asked. The shop is to find out.
  bool buy(const Lease& lease) {
    const auto rejected = [this] {
      shop_.count_rejected_write();
      tell(BuyerEvent::Kind::rejected);
      return true;
    };
    if (!shop_.raise_fence(lease.token())) return rejected();
    const auto stock = shop_.stock();
    if (stock <= 0) return false;
    think();
    if (!shop_.sell(stock - 1, options_.buyer, lease.token())) return rejected();
    tell(BuyerEvent::Kind::sold);
    return true;
  }

 private:
  /// Payment, delivery address, a discount for regular customers …
  void think() {
    std::this_thread::sleep_for(std::uniform_int_distribution(1'000, 3'000)(random_) * 1us);
  }

  const Options& options_;
  Shop shop_;
  std::minstd_rand random_;
};

void wait_for_start(const Buyer& buyer) {
  buyer.tell(BuyerEvent::Kind::ready);
  char word = 0;
  while (::read(buyer_start, &word, 1) > 0) continue;
}

void shop_under_lock(Buyer& buyer, const Options& options) {
  const char* store = std::getenv("HOLDFAST_STORE");
  const Client client(store ? store : "");
  LeaseOptions how;
  how.ttl = std::chrono::milliseconds(options.ttl_ms);
  how.note = "holdfast demo sale";
  const auto mutex = client.mutex("shop:item:1", how);
  wait_for_start(buyer);
  for (bool more = true; more;) try {
      const auto asked = boot_clock::now();
      auto lease = mutex.acquire();
      buyer.tell(BuyerEvent::Kind::granted, (boot_clock::now() - asked) / 1us);
      more = buyer.buy(lease);
      lease.release();
      buyer.tell(BuyerEvent::Kind::done);
    } catch (const Error&) {
      // A frozen client finds its requests overdue when it wakes up. Then it asks again.
      if (!options.chaos) throw;
    }
}

int shop(const Options& options) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != options.parent) return failed;
  Buyer buyer(options);
  if (options.lock == "holdfast") {
    shop_under_lock(buyer, options);
  } else {
    wait_for_start(buyer);
    while (buyer.buy()) continue;
  }
  return ok;
}

}  // namespace

void add_demo_buyer(CLI::App& app, CommandLine& line) {
  auto* command = add_command(app, "demo-buyer", "One process of `holdfast demo sale`", "", "");
  command->group("");  // hidden
  const auto options = std::make_shared<Options>();
  command->add_option("--parent", options->parent)->required();
  command->add_option("--buyer", options->buyer)->required();
  command->add_option("--shop", options->shop)->required();
  command->add_option("--lock", options->lock)->required();
  command->add_option("--ttl-ms", options->ttl_ms);
  command->add_flag("--chaos", options->chaos);
  command->callback([&line, options] { line.action = [options] { return shop(*options); }; });
}

}  // namespace holdfast::cli
