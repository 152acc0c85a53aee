#include "controllers/leaderworkerset/groups/lacking_pods.h"

#include <algorithm>

namespace tpuslice::leaderworkerset {
namespace {

plan::LackingPods lacking(const StatefulSetView& set) { return {kStatefulSets.kind, set.key.name, set.uid}; }

}  // namespace

std::optional<plan::LackingPods> lacking_pods(const LeaderWorkerSetState& state) {
  if (state.leader_set == nullptr) return std::nullopt;
  const int replicas = std::min(state.spec.replicas, state.leader_replicas());
  const auto of_spec = [&](const Group& group) { return group.index < replicas; };
  const auto without_leader = [&](const Group& group) { return of_spec(group) && group.leader == nullptr; };
  if (std::ranges::any_of(state.groups, without_leader)) return lacking(*state.leader_set);
  for (const Group& group : state.groups) {
    if (!of_spec(group) || group.worker_set == nullptr || group.worker_set->deletion) continue;
    if (static_cast<int>(group.workers.size()) < group.size - 1) return lacking(*group.worker_set);
  }
  return std::nullopt;
}

}  // namespace tpuslice::leaderworkerset
