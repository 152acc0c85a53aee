#include "controllers/rayservice/share_status.h"

namespace tpuslice::rayservice {
namespace {

constexpr const char* kCapacity = "targetCapacity";
constexpr const char* kTraffic = "trafficRoutedPercent";
constexpr const char* kMigrated = "lastTrafficMigratedTime";

/// A cluster that serves nothing has already lost the capacity; its next head is given the lower one.
std::optional<int> capacity_of(const ServeGoal& goal, const std::optional<Serving>& serving, const Cluster* cluster) {
  const bool lost = cluster != nullptr && !cluster->head_ready() && serve_endpoints(*cluster) == 0 &&
                    goal.capacity.value_or(kWhole) < goal.before.value_or(kWhole);
  const bool accepted = lost || (serving && serving->accepted);
  return goal.is_step() && !accepted ? goal.before : goal.capacity;
}

/// The weight of the cluster in the live route; nothing while that is not the desired one.
std::optional<int> traffic_of(const RunningDecisions& decisions, bool pending) {
  const ClusterChoice& choice = decisions.choice;
  if (!decisions.gateways.routes_traffic || decisions.promote) return std::nullopt;
  if (pending) return choice.pending == nullptr ? std::nullopt : std::optional(decisions.traffic.pending);
  return choice.pending == nullptr ? kWhole : decisions.traffic.active;
}

}  // namespace

void put_share(const RayServiceState& state, const RunningDecisions& decisions, bool pending, Json& status) {
  const ServeGoal& goal = pending ? decisions.goals.pending : decisions.goals.active;
  const std::optional<Serving>& serving = pending ? decisions.pending : decisions.active;
  if (!state.spec.incremental) {
    const bool restores = goal.is_step() && !(serving && serving->accepted);
    if (!restores) status.erase(kCapacity);
    status.erase(kTraffic);
    status.erase(kMigrated);
    return;
  }
  // Zero is a number like any other: clients in Go have a pointer here.
  const Cluster* cluster = pending ? decisions.choice.pending : decisions.choice.active;
  if (const std::optional<int> capacity = capacity_of(goal, serving, cluster)) status[kCapacity] = *capacity;
  const std::optional<int> traffic = traffic_of(decisions, pending);
  if (!traffic || int_at(status, {kTraffic}, -1) == *traffic) return;
  status[kTraffic] = *traffic;
  status[kMigrated] = format_rfc3339(state.seen.now);
}

}  // namespace tpuslice::rayservice
