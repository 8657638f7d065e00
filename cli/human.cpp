#include "human.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "table.hpp"

namespace holdfast::cli {

using namespace std::chrono;

std::string human(nanoseconds length) {
  if (length < nanoseconds::zero()) length = nanoseconds::zero();
  const auto us = duration_cast<microseconds>(length).count();
  const auto s = us / 1'000'000;
  if (us < 1'000) return fmt::format("{}us", us);
  if (us < 10'000) return fmt::format("{}.{}ms", us / 1'000, us / 100 % 10);
  if (us < 1'000'000) return fmt::format("{}ms", us / 1'000);
  if (s < 10) return fmt::format("{}.{}s", s, us / 100'000 % 10);
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3'600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  if (s < 86'400) return fmt::format("{}h{:02}m", s / 3'600, s / 60 % 60);
  return fmt::format("{}d{:02}h", s / 86'400, s / 3'600 % 24);
}

std::string since(system_clock::time_point then) {
  return human(
      std::max(duration_cast<nanoseconds>(system_clock::now() - then), nanoseconds::zero()));
}

std::string iso_time(system_clock::time_point time) {
  const auto whole = floor<seconds>(time);
  const std::time_t clock = system_clock::to_time_t(whole);
  std::tm parts{};
  ::gmtime_r(&clock, &parts);
  char text[32];
  const auto size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", std::string_view(text, size),
                     duration_cast<milliseconds>(time - whole).count());
}

std::string mode_words(const Mode& mode) {
  switch (mode.kind) {
    case ModeKind::exclusive:
      return "exclusive";
    case ModeKind::shared:
      return "shared";
    case ModeKind::permits:
      return fmt::format("{} of {} permits", mode.count, mode.limit);
  }
  return "?";
}

std::string who(const std::string& owner, const std::string& client) {
  const bool random =
      owner.size() == 32 && owner.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (client.empty()) return owner;
  return random || owner.empty() ? client : fmt::format("{} ({})", owner, client);
}

std::string holder_words(const ResourceInfo& resource) {
  if (resource.holders.empty()) return "held by nobody now";
  const HolderInfo& first = resource.holders.front();
  auto words = fmt::format("held by {} for {}", printable(who(first.owner, first.client)),
                           since(first.since));
  if (!first.note.empty()) words += fmt::format(" ({})", printable(first.note));
  if (resource.holders.size() > 1)
    words += fmt::format(" and {} more", resource.holders.size() - 1);
  return words;
}

}  // namespace holdfast::cli
