#include "json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

#include "human.hpp"

namespace holdfast::cli {
namespace {

const char* word(ModeKind kind) {
  switch (kind) {
    case ModeKind::exclusive:
      return "exclusive";
    case ModeKind::shared:
      return "shared";
    case ModeKind::permits:
      return "permits";
  }
  return "?";
}

void put_mode(Json& object, const Mode& mode) {
  object["mode"] = word(mode.kind);
  if (mode.kind != ModeKind::permits) return;
  object["permits"] = mode.count;
  object["limit"] = mode.limit;
}

}  // namespace

Json to_json(const HolderInfo& holder) {
  Json object;
  object["owner"] = holder.owner;
  object["client"] = holder.client;
  object["token"] = holder.token;
  put_mode(object, holder.mode);
  object["since"] = iso_time(holder.since);
  object["expires_in_ms"] = holder.expires_in.count();
  object["note"] = holder.note;
  return object;
}

Json to_json(const WaiterInfo& waiter) {
  Json object;
  object["owner"] = waiter.owner;
  object["client"] = waiter.client;
  put_mode(object, waiter.mode);
  object["note"] = waiter.note;
  object["alive"] = waiter.alive;
  return object;
}

Json to_json(const ResourceInfo& resource) {
  Json object;
  object["name"] = resource.name;
  object["holders"] = Json::array();
  for (const auto& holder : resource.holders) object["holders"].push_back(to_json(holder));
  object["waiters"] = Json::array();
  for (const auto& waiter : resource.waiters) object["waiters"].push_back(to_json(waiter));
  object["token"] = resource.token;
  return object;
}

Json to_json(const Capabilities& can) {
  Json object;
  object["store"] = can.store;
  object["version"] = can.version;
  object["exclusive"] = can.exclusive;
  object["shared"] = can.shared;
  object["permits"] = can.permits;
  object["several_names"] = can.several_names;
  object["cells"] = can.cells;
  object["wake_up"] = can.wake_up == Capabilities::WakeUp::event ? "event" : "poll";
  object["wake_up_bound_ms"] = can.wake_up_bound.count();
  object["fairness"] = can.fairness == Capabilities::Fairness::fifo ? "fifo" : "none";
  object["token_source"] = can.token_source;
  object["token_bits"] = can.token_bits;
  object["expiry_clock"] = can.expiry_clock;
  object["survives_client_crash"] = can.survives_client_crash;
  object["survives_server_restart"] = can.survives_server_restart;
  object["survives_failover"] = can.survives_failover;
  object["survives_partition"] = can.survives_partition;
  object["exclusion"] = can.exclusion;
  object["min_ttl_ms"] = can.min_ttl.count();
  object["max_ttl_ms"] = can.max_ttl.count();
  object["max_name_bytes"] = can.max_name_bytes;
  object["dead_waiter_bound_ms"] = can.dead_waiter_bound.count();
  return object;
}

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void print_line(const Json& value) {
  // What others wrote into a store may be no UTF-8; better one odd character than no answer.
  print(value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace holdfast::cli
