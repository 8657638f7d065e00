#include "driver/record/record_driver.hpp"

#include <algorithm>
#include <cstring>

#include "base/fork.hpp"
#include "base/name.hpp"
#include "driver/record/record_ops.hpp"

namespace holdfast::driver {
namespace {

constexpr std::size_t renewals_at_once = 1024;

std::uint32_t seed_from(const Id& id) noexcept {
  std::uint32_t seed;
  std::memcpy(&seed, id.bytes.data(), sizeof seed);
  return seed;
}

}  // namespace

RecordDriver::RecordDriver(Host host, Capabilities capabilities, LockModel::Self self,
                           Batching batching)
    : host_(std::move(host)),
      capabilities_(std::move(capabilities)),
      self_(std::move(self)),
      batching_(batching),
      birth_(fork_generation()),
      jitter_(seed_from(self_.client)),
      retry_(host_.loop),
      timer_(host_.loop),
      present_(std::make_shared<const bool>(true)) {}

RecordDriver::~RecordDriver() {
  present_.reset();
  retry_.cancel();
  timer_.cancel();
  leave_store();
}

void RecordDriver::attach(std::unique_ptr<RecordStore> store) { store_ = std::move(store); }

const Capabilities& RecordDriver::capabilities() const noexcept { return capabilities_; }

void RecordDriver::acquire(RequestPtr request, Handler<Grant> handler) {
  submit(Acquire(std::move(request), std::move(handler)));
}

void RecordDriver::cancel(const RequestPtr& request) {
  const auto queued = std::find_if(queue_.begin(), queue_.end(),
                                   [&](const auto& op) { return op->acquires(request->id); });
  if (queued != queue_.end()) {  // the store has not heard of it
    const std::unique_ptr<Op> op = std::move(*queued);
    queue_.erase(queued);
    op->fail(*this,
             {errc::canceled, "the wait for " + quoted(request->names.front()) + " was canceled"});
    return;
  }
  const auto waiting = waiting_.find(request->id);
  if (waiting == waiting_.end() || waiting->second.leaving) return;
  waiting->second.leaving = true;
  submit(Withdraw(waiting->second.request, errc::canceled));
}

void RecordDriver::renew(std::vector<RequestPtr> leases, Handler<std::vector<Renewal>> handler) {
  auto batch = std::make_shared<Renew::Batch>();
  const std::size_t count = leases.size();
  batch->leases = std::move(leases);
  batch->handler = std::move(handler);
  batch->renewals.resize(count);
  batch->parts = std::max<std::size_t>(1, (count + renewals_at_once - 1) / renewals_at_once);
  for (std::size_t part = 0, parts = batch->parts; part < parts; ++part)
    submit(Renew(batch, part * renewals_at_once, std::min(count, (part + 1) * renewals_at_once)));
}

void RecordDriver::release(RequestPtr lease, Handler<Released> handler) {
  if (auto node = held_.extract(lease->id)) {
    node.mapped() = {};
    spare_ = std::move(node);
  }
  submit(Release(std::move(lease), std::move(handler)));
}

void RecordDriver::inspect(std::string name, Handler<ResourceInfo> handler) {
  submit(Ask<ResourceInfo>(
      false,
      [name = std::move(name)](Step& step) -> Result<ResourceInfo> {
        return step.model.inspect(name);
      },
      std::move(handler)));
}

void RecordDriver::list(std::string prefix, std::size_t limit,
                        Handler<std::vector<ResourceInfo>> handler) {
  submit(Ask<std::vector<ResourceInfo>>(
      false,
      [prefix = std::move(prefix), limit](Step& step) -> Result<std::vector<ResourceInfo>> {
        std::vector<ResourceInfo> list;
        for (const auto& name : step.store.names(prefix, limit)) {
          ResourceInfo info = step.model.inspect(name);
          if (!info.holders.empty() || !info.waiters.empty()) list.push_back(std::move(info));
        }
        return list;
      },
      std::move(handler)));
}

void RecordDriver::revoke(std::string name, Handler<std::size_t> handler) {
  submit(Ask<std::size_t>(
      true,
      [name = std::move(name)](Step& step) -> Result<std::size_t> {
        return step.model.revoke(name);
      },
      std::move(handler)));
}

void RecordDriver::read(std::string cell, Handler<CellValue> handler) {
  submit(Ask<CellValue>(
      false,
      [cell = std::move(cell)](Step& step) -> Result<CellValue> { return step.model.read(cell); },
      std::move(handler)));
}

void RecordDriver::write(std::string cell, std::string value, std::uint64_t expected,
                         Handler<std::uint64_t> handler) {
  submit(Ask<std::uint64_t>(
      true,
      [cell = std::move(cell), value = std::move(value), expected](Step& step) {
        return step.model.write(cell, value, expected);
      },
      std::move(handler)));
}

void RecordDriver::watch(std::string cell, std::uint64_t since, Instant deadline,
                         Handler<CellValue> handler) {
  const Id id = Id::random();
  const bool last = deadline <= host_.clock.now();
  watching_.emplace(id, Watching{.cell = std::move(cell),
                                 .since = since,
                                 .deadline = deadline,
                                 .handler = std::move(handler),
                                 .refresh = Instant::max(),
                                 .asked = true,
                                 .leaving = last});
  if (!last) schedule(deadline);
  submit(Watch(id, last));
}

}  // namespace holdfast::driver
