#include "driver/record/codec.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace holdfast::driver {
namespace {

constexpr std::uint8_t format_version = 1;
constexpr std::size_t max_names = 64;
constexpr Duration max_ttl = std::chrono::hours(24 * 365);
constexpr std::uint64_t token_end = std::uint64_t{1} << 63U;

// The least bytes that an entry of a list takes: bounds what a count can make us allocate.
constexpr std::size_t min_holder = 16 + 16 + 3 * 2 + 9 + 8 + 4 + 8 + 8 + 8 + 1;
constexpr std::size_t min_waiter = 16 + 16 + 3 * 2 + 9 + 8 + 4 + 8 + 8 + 1;
constexpr std::size_t watcher_size = 16 + 16 + 8;

class Writer {
 public:
  explicit Writer(std::size_t expected) { bytes_.reserve(expected); }

  template <class Integer>
  void integer(Integer value) {
    auto rest = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof(Integer); ++i, rest >>= 8U)
      bytes_ += static_cast<char>(rest & 0xFFU);
  }
  void id(const Id& id) {
    bytes_.append(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size());
  }
  void text(std::string_view text) {
    if (text.size() > std::numeric_limits<std::uint16_t>::max())
      throw Error(errc::bad_argument, "a text of " + std::to_string(text.size()) +
                                          " bytes is too long for the record of a resource");
    integer(static_cast<std::uint16_t>(text.size()));
    bytes_ += text;
  }
  void value(std::string_view value) {
    integer(static_cast<std::uint32_t>(value.size()));
    bytes_ += value;
  }
  void duration(Duration duration) { integer(std::int64_t{duration.count()}); }
  void instant(Instant instant) { duration(instant.time_since_epoch()); }
  void wall(std::chrono::system_clock::time_point at) {
    duration(std::chrono::duration_cast<Duration>(at.time_since_epoch()));
  }
  void mode(const Mode& mode) {
    integer(static_cast<std::uint8_t>(mode.kind));
    integer(mode.count);
    integer(mode.limit);
  }
  void predecessor(Predecessor how) { integer(static_cast<std::uint8_t>(how)); }

  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// After a fault all reads give zeros; the fault is asked for once, at the end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) noexcept : rest_(bytes) {}

  template <class Integer>
  [[nodiscard]] Integer integer() noexcept {
    const auto bytes = take(sizeof(Integer));
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
      value = value << 8U | static_cast<std::uint8_t>(bytes[i]);
    return static_cast<Integer>(value);
  }
  [[nodiscard]] Id id() noexcept {
    Id id;
    const auto bytes = take(id.bytes.size());
    if (!bytes.empty()) std::memcpy(id.bytes.data(), bytes.data(), bytes.size());
    return id;
  }
  [[nodiscard]] std::string text() { return std::string(take(integer<std::uint16_t>())); }
  [[nodiscard]] std::string value() { return std::string(take(integer<std::uint32_t>())); }
  [[nodiscard]] Duration duration() noexcept { return Duration(integer<std::int64_t>()); }
  [[nodiscard]] Instant instant() noexcept {
    const Duration since_boot = duration();
    require(since_boot >= Duration::zero(), "a time before the machine was started");
    return Instant(since_boot);
  }
  [[nodiscard]] Duration ttl() noexcept {
    const Duration ttl = duration();
    require(ttl >= Duration::zero() && ttl <= max_ttl, "a TTL out of range");
    return ttl;
  }
  [[nodiscard]] std::chrono::system_clock::time_point wall() noexcept {
    using std::chrono::system_clock;
    return system_clock::time_point(std::chrono::duration_cast<system_clock::duration>(duration()));
  }
  [[nodiscard]] std::uint64_t token() noexcept {
    const auto token = integer<std::uint64_t>();
    require(token < token_end, "a token of 2^63 or more");
    return token;
  }
  [[nodiscard]] Mode mode() noexcept {
    Mode mode;
    mode.kind = choice<ModeKind>(ModeKind::permits, "an unknown mode");
    mode.count = integer<std::uint32_t>();
    mode.limit = integer<std::uint32_t>();
    return mode;
  }
  [[nodiscard]] Predecessor predecessor() noexcept {
    return choice<Predecessor>(Predecessor::revoked, "an unknown way to end");
  }
  /// How many entries of at least `size` bytes follow.
  [[nodiscard]] std::size_t count(std::size_t size) noexcept {
    const std::size_t count = integer<std::uint32_t>();
    require(count <= rest_.size() / size, "a list that is longer than the record");
    return fault_ ? 0 : count;
  }
  void version() noexcept {
    const auto version = integer<std::uint8_t>();
    require(version == format_version, version > format_version && version < 0x20
                                           ? "the format of a newer version of Holdfast"
                                           : "not the format of a record");
  }
  void require(bool condition, const char* otherwise) noexcept {
    if (!condition) fail(otherwise);
  }

  /// Why the bytes are not valid, or nothing.
  [[nodiscard]] const char* fault() noexcept {
    require(rest_.empty(), "bytes after its end");
    return fault_;
  }

 private:
  template <class Enum>
  [[nodiscard]] Enum choice(Enum last, const char* otherwise) noexcept {
    const auto value = integer<std::uint8_t>();
    require(value <= static_cast<std::uint8_t>(last), otherwise);
    return fault_ ? Enum{} : static_cast<Enum>(value);
  }
  [[nodiscard]] std::string_view take(std::size_t size) noexcept {
    if (size > rest_.size()) fail("too few bytes");
    if (fault_) return {};
    const auto taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  void fail(const char* fault) noexcept {
    if (!fault_) fault_ = fault;
    rest_ = {};
  }

  std::string_view rest_;
  const char* fault_ = nullptr;
};

void write(Writer& out, const Holder& holder) {
  out.id(holder.lease);
  out.id(holder.client);
  out.text(holder.owner);
  out.text(holder.label);
  out.text(holder.note);
  out.mode(holder.mode);
  out.integer(holder.token);
  out.integer(holder.token_block);
  out.wall(holder.since);
  out.instant(holder.expires);
  out.duration(holder.ttl);
  out.predecessor(holder.predecessor);
}

Holder read_holder(Reader& in) {
  Holder holder;
  holder.lease = in.id();
  holder.client = in.id();
  holder.owner = in.text();
  holder.label = in.text();
  holder.note = in.text();
  holder.mode = in.mode();
  holder.token = in.token();
  holder.token_block = in.integer<std::uint32_t>();
  holder.since = in.wall();
  holder.expires = in.instant();
  holder.ttl = in.ttl();
  holder.predecessor = in.predecessor();
  return holder;
}

void write(Writer& out, const Waiter& waiter) {
  out.id(waiter.lease);
  out.id(waiter.client);
  out.text(waiter.owner);
  out.text(waiter.label);
  out.text(waiter.note);
  out.mode(waiter.mode);
  out.duration(waiter.ttl);
  out.integer(waiter.token_block);
  out.integer(waiter.ticket);
  out.instant(waiter.alive_until);
  out.integer(static_cast<std::uint8_t>(waiter.names.size()));
  for (const auto& name : waiter.names) out.text(name);
}

Waiter read_waiter(Reader& in) {
  Waiter waiter;
  waiter.lease = in.id();
  waiter.client = in.id();
  waiter.owner = in.text();
  waiter.label = in.text();
  waiter.note = in.text();
  waiter.mode = in.mode();
  waiter.ttl = in.ttl();
  waiter.token_block = in.integer<std::uint32_t>();
  waiter.ticket = in.integer<std::uint64_t>();
  waiter.alive_until = in.instant();
  const auto names = in.integer<std::uint8_t>();
  in.require(names <= max_names, "a request for too many names");
  for (std::size_t i = 0; i < names; ++i) waiter.names.push_back(in.text());
  return waiter;
}

template <class T>
Result<T> checked(T value, Reader& in, std::size_t size, const char* what) {
  if (const char* fault = in.fault())
    return Failure{errc::misconfigured, "the store holds " + std::to_string(size) +
                                            " bytes as the record of a " + what +
                                            " that cannot be read: " + fault};
  return value;
}

}  // namespace

std::string encode(const Record& record) {
  Writer out(64 + 256 * (record.holders.size() + record.waiters.size()));
  out.integer(format_version);
  out.integer(record.token);
  out.id(record.last);
  out.predecessor(record.ended);
  out.integer(static_cast<std::uint32_t>(record.holders.size()));
  for (const auto& holder : record.holders) write(out, holder);
  out.integer(static_cast<std::uint32_t>(record.waiters.size()));
  for (const auto& waiter : record.waiters) write(out, waiter);
  return out.take();
}

Result<Record> decode_record(std::string_view bytes) {
  Reader in(bytes);
  Record record;
  in.version();
  record.token = in.token();
  record.last = in.id();
  record.ended = in.predecessor();
  const auto holders = in.count(min_holder);
  record.holders.reserve(holders);
  for (std::size_t i = 0; i < holders; ++i) record.holders.push_back(read_holder(in));
  const auto waiters = in.count(min_waiter);
  record.waiters.reserve(waiters);
  for (std::size_t i = 0; i < waiters; ++i) record.waiters.push_back(read_waiter(in));
  in.require(std::is_sorted(record.waiters.begin(), record.waiters.end(),
                            [](const Waiter& a, const Waiter& b) { return a.ticket < b.ticket; }),
             "waiters out of order");
  return checked(std::move(record), in, bytes.size(), "resource");
}

std::string encode(const CellRecord& cell) {
  Writer out(32 + cell.value.size() + watcher_size * cell.watchers.size());
  out.integer(format_version);
  out.integer(cell.version);
  out.value(cell.value);
  out.integer(static_cast<std::uint32_t>(cell.watchers.size()));
  for (const auto& watcher : cell.watchers) {
    out.id(watcher.watch);
    out.id(watcher.client);
    out.instant(watcher.alive_until);
  }
  return out.take();
}

Result<CellRecord> decode_cell(std::string_view bytes) {
  Reader in(bytes);
  CellRecord cell;
  in.version();
  cell.version = in.integer<std::uint64_t>();
  cell.value = in.value();
  const auto watchers = in.count(watcher_size);
  cell.watchers.reserve(watchers);
  for (std::size_t i = 0; i < watchers; ++i) {
    const Id watch = in.id();
    const Id client = in.id();
    cell.watchers.push_back({watch, client, in.instant()});
  }
  return checked(std::move(cell), in, bytes.size(), "cell");
}

std::string encode(const Hint& hint) {
  Writer out(17);
  out.integer(static_cast<std::uint8_t>(hint.kind));
  out.id(hint.subject);
  return out.take();
}

}  // namespace holdfast::driver
