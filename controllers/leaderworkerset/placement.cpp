#include "controllers/leaderworkerset/placement.h"

#include <algorithm>

#include "tpu/labels.h"
#include "tpu/slice_shape.h"
#include "webhook/rules/tpu_rules.h"

namespace tpuslice::leaderworkerset {
namespace {

bool is_exclusive(const LeaderWorkerSetSpec& spec) {
  return !spec.topology_key.empty() || (!spec.subgroup_topology_key.empty() && spec.group.subgroups);
}

/// Whether the leader is a host of a slice that its workers are hosts of, too.
bool leader_is_host(const GroupTemplate& group) {
  return group.leader_has_tpus() && !(group.subgroups && group.subgroups->leader_excluded);
}

/// Hosts of the largest slice that the workers make with one another, or with their leader.
int most_hosts(const GroupTemplate& group) {
  const int hosts = group.workers() + (leader_is_host(group) ? 1 : 0);
  return group.subgroups ? std::min(hosts, group.subgroups->size) : hosts;
}

}  // namespace

bool workers_are_slices(const GroupTemplate& group) {
  if (group.worker == nullptr || !webhook::asks_for_tpus(*group.worker) || group.workers() < 1 || most_hosts(group) < 2)
    return false;
  return tpu::selected_hosts(*group.worker).value_or(2) != 1;  // Without a topology all of them are one slice.
}

std::string_view slice_leader(const LeaderWorkerSetSpec& spec) {
  const GroupTemplate& group = spec.group;
  if (!is_exclusive(spec) || !workers_are_slices(group) || leader_is_host(group)) return {};
  const bool follows = spec.startup == StartupPolicy::kLeaderCreated && !group.leader_has_tpus();
  // A leader in no subgroup has no subgroup to be with.
  const bool has_slice = !spec.topology_key.empty() || !group.subgroups->leader_excluded;
  return follows && has_slice ? tpu::kWithSlice : tpu::kAnywhere;
}

bool leader_decides(const LeaderWorkerSetSpec& spec, const GroupTemplate& group, std::string_view slice_leader) {
  if (spec.topology_key.empty()) return false;
  if (!workers_are_slices(group)) return true;
  return slice_leader.empty() && !leader_is_host(group);
}

}  // namespace tpuslice::leaderworkerset
