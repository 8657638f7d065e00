#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "human.hpp"
#include "table.hpp"
#include "watch.hpp"

namespace holdfast::cli {
namespace {

bool has(const ResourceInfo& resource, const HolderInfo& holder) {
  return std::any_of(resource.holders.begin(), resource.holders.end(),
                     [&](const HolderInfo& other) {
                       return other.token == holder.token && other.owner == holder.owner;
                     });
}

const char* word(Change::Kind kind) {
  switch (kind) {
    case Change::Kind::free:
      return "free";
    case Change::Kind::held:
      return "held";
    case Change::Kind::granted:
      return "granted";
    case Change::Kind::released:
      return "released";
    case Change::Kind::expired:
      return "expired";
    case Change::Kind::waiters:
      return "waiters";
    case Change::Kind::trouble:
      return "trouble";
  }
  return "?";
}

}  // namespace

std::vector<Change> first_look(const ResourceInfo& now) {
  std::vector<Change> found;
  for (const auto& holder : now.holders)
    found.push_back({Change::Kind::held, holder, now.waiters.size()});
  if (found.empty()) found.push_back({Change::Kind::free, {}, now.waiters.size()});
  return found;
}

std::vector<Change> changes(const ResourceInfo& before, const ResourceInfo& now,
                            std::chrono::nanoseconds between) {
  std::vector<Change> found;
  for (const auto& holder : before.holders)
    if (!has(now, holder)) {
      const bool ran_out = holder.expires_in <= between;
      found.push_back(
          {ran_out ? Change::Kind::expired : Change::Kind::released, holder, now.waiters.size()});
    }
  for (const auto& holder : now.holders)
    if (!has(before, holder)) found.push_back({Change::Kind::granted, holder, now.waiters.size()});
  // A line of its own only where no other one tells the number.
  if (found.empty() && before.waiters.size() != now.waiters.size())
    found.push_back({Change::Kind::waiters, {}, now.waiters.size()});
  return found;
}

std::string words_of(const Change& change) {
  const auto holder = [&] {
    const auto& h = change.holder;
    return fmt::format("{}, {}, token {}{}", printable(who(h.owner, h.client)), mode_words(h.mode),
                       h.token, h.note.empty() ? "" : " (" + printable(h.note) + ")");
  };
  const auto waiting =
      change.waiters == 0 ? std::string() : fmt::format("; {} waiting", change.waiters);
  switch (change.kind) {
    case Change::Kind::free:
      return "free" + waiting;
    case Change::Kind::held:
      return fmt::format("held by {} for {}{}", holder(), since(change.holder.since), waiting);
    case Change::Kind::granted:
      return fmt::format("granted to {}{}", holder(), waiting);
    case Change::Kind::released:
      return fmt::format("released by {}{}", holder(), waiting);
    case Change::Kind::expired:
      return fmt::format("expired: {}{}", holder(), waiting);
    case Change::Kind::waiters:
      return fmt::format("{} waiting", change.waiters);
    case Change::Kind::trouble:
      return "no answer: " + change.words;
  }
  return {};
}

Json to_json(const Change& change) {
  Json object;
  object["time"] = iso_time(std::chrono::system_clock::now());
  object["event"] = word(change.kind);
  switch (change.kind) {
    case Change::Kind::held:
    case Change::Kind::granted:
    case Change::Kind::released:
    case Change::Kind::expired:
      object.update(to_json(change.holder));
      break;
    case Change::Kind::trouble:
      object["words"] = change.words;
      return object;
    case Change::Kind::free:
    case Change::Kind::waiters:
      break;
  }
  object["waiters"] = change.waiters;
  return object;
}

}  // namespace holdfast::cli
