#include "controllers/rayservice/incremental_upgrade.h"

#include <algorithm>

#include "controllers/rayservice/http_route.h"
#include "controllers/rayservice/rules/rayservice_labels.h"
#include "controllers/rayservice/serve_config.h"

namespace tpuslice::rayservice {
namespace {

std::optional<int> percent_at(const Json& json, std::string_view member) {
  const std::optional<std::int64_t> found = int32_at(json, {member});
  return found ? std::optional(static_cast<int>(std::clamp<std::int64_t>(*found, 0, kWhole))) : std::nullopt;
}

std::optional<int> recorded_capacity(const RayServiceState& state, const std::string& name) {
  const Cluster* cluster = state.clusters.find(name);
  if (cluster == nullptr) return std::nullopt;
  const ServeRecord record = ServeRecord::parse(cluster->annotation(kServeConfig));
  const auto config = record.accepted ? recorded_config(record, cluster->annotation(kServeConfigBody)) : std::nullopt;
  return config ? percent_at(config->json, "target_capacity") : std::nullopt;
}

}  // namespace

Share share_of(const RayServiceState& state, const std::string& cluster) {
  Share out;
  if (cluster.empty()) return out;
  for (const char* member : {"activeServiceStatus", "pendingServiceStatus"}) {
    const Json* status = find_set(state.status, {member});
    if (status == nullptr || string_at(*status, {"rayClusterName"}) != cluster) continue;
    out.capacity = percent_at(*status, "targetCapacity");
    out.traffic = percent_at(*status, "trafficRoutedPercent");
    out.migrated = parse_rfc3339(string_at(*status, {"lastTrafficMigratedTime"}));
    return out;
  }
  out.capacity = recorded_capacity(state, cluster);
  if (const ObjectView* route = own_http_route(state)) out.traffic = weight_of(*route, cluster);
  return out;
}

Progress progress_of(const Share& active, const Share& pending) {
  Progress out;
  out.capacity = {active.capacity.value_or(kWhole), pending.capacity.value_or(0)};
  out.traffic.pending = pending.traffic.value_or(0);
  out.traffic.active = kWhole - out.traffic.pending;
  return out;
}

Split next_capacity(const Progress& now, int max_surge, bool rollback) {
  Split out = now.capacity;
  if (rollback) {
    if (now.capacity.active != now.traffic.active) return out;
    if (now.capacity.sum() > kWhole) {
      out.pending = std::max(now.capacity.pending - max_surge, now.traffic.pending);
    } else {
      out.active = std::min(now.capacity.active + max_surge, kWhole);
    }
    return out;
  }
  if (now.capacity.pending != now.traffic.pending) return out;
  if (now.capacity.sum() > kWhole) {
    out.active = std::max(now.capacity.active - max_surge, now.traffic.active);
  } else {
    out.pending = std::min(now.capacity.pending + max_surge, kWhole);
  }
  return out;
}

Split next_traffic(const Progress& now, int step_size, bool rollback) {
  const auto towards = [&](int traffic, int capacity) { return std::min(traffic + step_size, capacity); };
  Split out = now.traffic;
  if (rollback) {
    out.active = towards(now.traffic.active, now.capacity.active);
    out.pending = kWhole - out.active;
  } else {
    out.pending = towards(now.traffic.pending, now.capacity.pending);
    out.active = kWhole - out.pending;
  }
  return out;
}

bool is_complete(const Progress& now) { return now.capacity.active == 0 && now.traffic.pending == kWhole; }

bool is_rolled_back(const Progress& now, bool pending_head_ready) {
  const bool restored = now.capacity.active == kWhole && now.traffic.active == kWhole;
  return restored && (!pending_head_ready || now.capacity.pending == 0);
}

bool is_rolling_back(const RayServiceState& state, const Cluster& active, const Cluster& pending,
                     const ConfigHash& config) {
  if (config.fits(pending)) return false;
  if (config.fits(active)) return true;
  return !is_of_other_operator(pending) || is_condition_true(state.conditions(), kRollbackInProgress);
}

}  // namespace tpuslice::rayservice
