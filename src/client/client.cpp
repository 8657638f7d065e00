#include <holdfast/client.hpp>

#include "base/fork.hpp"
#include "base/name.hpp"
#include "client/engine.hpp"

namespace holdfast {

namespace {

std::string checked(std::string_view name) {
  if (auto wrong = check_name(name)) wrong->raise();
  return std::string(name);
}

}  // namespace

Client::Client(std::string_view url, ClientOptions options)
    : engine_(client::Engine::open(url, std::move(options))) {}
Client::Client(Client&&) noexcept = default;

Client& Client::operator=(Client&& other) noexcept {
  if (this != &other) {
    Client old(std::move(*this));
    engine_ = std::move(other.engine_);
  }
  return *this;
}

Client::~Client() {
  if (!engine_) return;
  if (engine_->forked())
    keep_for_ever(std::move(engine_));  // its threads are not in this process
  else
    engine_->close();
}

Mutex Client::mutex(std::string_view name, const LeaseOptions& options) const {
  return Mutex({engine_, engine_->recipe({std::string(name)}, Mode{}, options)});
}

Mutex Client::mutex(std::initializer_list<std::string_view> names,
                    const LeaseOptions& options) const {
  return Mutex({engine_, engine_->recipe({names.begin(), names.end()}, Mode{}, options)});
}

Mutex Client::mutex(std::span<const std::string> names, const LeaseOptions& options) const {
  return Mutex({engine_, engine_->recipe({names.begin(), names.end()}, Mode{}, options)});
}

SharedMutex Client::shared_mutex(std::string_view name, const LeaseOptions& options) const {
  const std::vector<std::string> names{std::string(name)};
  return SharedMutex({engine_, engine_->recipe(names, Mode{}, options)}, shared(names, options));
}

Semaphore Client::semaphore(std::string_view name, std::uint32_t permits,
                            const LeaseOptions& options, std::uint32_t count) const {
  return Semaphore({engine_, engine_->recipe({std::string(name)},
                                             Mode{ModeKind::permits, count, permits}, options)});
}

SharedMutex::Shared Client::shared(std::span<const std::string> names,
                                   const LeaseOptions& options) const {
  return SharedMutex::Shared(
      {engine_, engine_->recipe({names.begin(), names.end()}, Mode{ModeKind::shared}, options)});
}

Cell Client::cell(std::string_view name) const {
  if (!capabilities().cells)
    throw Error(errc::unsupported, url() + " has no cells (see `holdfast info`)");
  return Cell(engine_, checked(name));
}

const Capabilities& Client::capabilities() const noexcept { return engine_->capabilities(); }
const std::string& Client::url() const noexcept { return engine_->store(); }
ResourceInfo Client::inspect(std::string_view name) const {
  return engine_->inspect(checked(name)).take();
}

std::vector<ResourceInfo> Client::list(std::string_view prefix, std::size_t limit) const {
  return engine_->list(prefix.empty() ? std::string() : checked(prefix), limit).take();
}

std::size_t Client::revoke(std::string_view name) const {
  return engine_->revoke(checked(name)).take();
}
Metrics Client::metrics() const { return engine_->metrics(); }

}  // namespace holdfast
