#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/capabilities.hpp>
#include <holdfast/cell.hpp>
#include <holdfast/metrics.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/options.hpp>
#include <holdfast/resource.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>

namespace holdfast {

/// One connection of a program to one store; owns the session, the keeper (which renews leases and
/// declares them lost in time) and two threads. Make one per store and process and share it.
///
/// URLs: `memory:` (this process only; `memory:NAME` is shared by all clients of the process that
/// name it), `sqlite:///var/lib/app/locks.db` (all processes of this machine), and one scheme a
/// further store; docs/stores/ has a page each. Names are any UTF-8 without control characters, 1
/// to 512 bytes; `domain:type:id` is the recommended form.
///
/// The destructor releases what is still held, ends all waits with errc::closed and returns within
/// ClientOptions::request_timeout. In a child of fork(2) a client is dead: its calls throw
/// errc::closed, and its leases are lost there: make a new one. Thread-safe.
class Client {
 public:
  /// Opens the store. Throws Error: bad_url, unavailable, misconfigured, denied, unsupported.
  explicit Client(std::string_view url, ClientOptions options = {});
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  /// Throws bad_name or bad_argument, before anything is sent; so do the other makers.
  [[nodiscard]] Mutex mutex(std::string_view name, const LeaseOptions& options = {}) const;
  /// Several names, taken together. 1 to 64 names; duplicates count once.
  [[nodiscard]] Mutex mutex(std::initializer_list<std::string_view> names,
                            const LeaseOptions& options = {}) const;
  [[nodiscard]] Mutex mutex(std::span<const std::string> names,
                            const LeaseOptions& options = {}) const;
  [[nodiscard]] SharedMutex shared_mutex(std::string_view name,
                                         const LeaseOptions& options = {}) const;
  /// `permits` in all, of which each lease takes `count`.
  [[nodiscard]] Semaphore semaphore(std::string_view name, std::uint32_t permits,
                                    const LeaseOptions& options = {},
                                    std::uint32_t count = 1) const;
  /// Any number of names on the reader's side (what `holdfast run --shared A B` takes).
  [[nodiscard]] SharedMutex::Shared shared(std::span<const std::string> names,
                                           const LeaseOptions& options = {}) const;
  [[nodiscard]] Cell cell(std::string_view name) const;

  [[nodiscard]] const Capabilities& capabilities() const noexcept;
  /// The store's URL without secrets.
  [[nodiscard]] const std::string& url() const noexcept;

  /// Who holds a resource and who waits for it, as the store sees it. An unknown name has no
  /// holders.
  [[nodiscard]] ResourceInfo inspect(std::string_view name) const;
  /// Resources that are held or waited for, by name, whose name starts with `prefix`; at most
  /// `limit`.
  [[nodiscard]] std::vector<ResourceInfo> list(std::string_view prefix = {},
                                               std::size_t limit = 1000) const;
  /// An operator's force-release: takes the resource from all its holders, who are told, and raises
  /// the token. Returns how many holders were removed.
  std::size_t revoke(std::string_view name) const;

  [[nodiscard]] Metrics metrics() const;

 private:
  friend class client::Engine;
  explicit Client(std::shared_ptr<client::Engine> engine) noexcept : engine_(std::move(engine)) {}
  std::shared_ptr<client::Engine> engine_;
};

}  // namespace holdfast
