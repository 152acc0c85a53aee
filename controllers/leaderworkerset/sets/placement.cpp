#include "controllers/leaderworkerset/sets/placement.h"

#include <algorithm>
#include <array>

#include "tpu/labels.h"
#include "tpu/pod_request.h"
#include "tpu/rules/tpu_rules.h"
#include "tpu/slice_shape.h"

namespace tpuslice::leaderworkerset {
namespace {

bool is_exclusive(const LeaderWorkerSetSpec& spec) {
  return !spec.topology_key.empty() || (!spec.subgroup_topology_key.empty() && spec.group.subgroups);
}

/// Whether the leader is a host of the same slice as workers.
bool leader_is_host(const GroupTemplate& group) { return leader_has_tpus(group) && group.includes_leader(); }

/// Hosts of the largest slice that contains workers.
int max_hosts(const GroupTemplate& group) {
  const int hosts = group.workers() + (leader_is_host(group) ? 1 : 0);
  return group.subgroups ? std::min(hosts, group.subgroups->size) : hosts;
}

}  // namespace

bool leader_has_tpus(const GroupTemplate& group) {
  const Json* pod = group.leader == nullptr ? nullptr : find_set(*group.leader, {"spec"});
  if (pod == nullptr) return false;
  return std::ranges::any_of(std::array{"containers", "initContainers"}, [&](const char* list) {
    const auto containers = tpu::tpu_containers(*pod, list);
    return !containers || !containers->empty();  // Not a quantity: counts as a request.
  });
}

bool workers_are_slices(const GroupTemplate& group) {
  if (group.worker == nullptr || !rules::asks_for_tpus(*group.worker) || group.workers() < 1 || max_hosts(group) < 2)
    return false;
  return tpu::selected_hosts(*group.worker).value_or(2) != 1;  // Without a topology, all pods are one slice.
}

std::string_view slice_leader(const LeaderWorkerSetSpec& spec) {
  const GroupTemplate& group = spec.group;
  if (!is_exclusive(spec) || !workers_are_slices(group) || leader_is_host(group)) return {};
  const bool follows = spec.startup == StartupPolicy::kLeaderCreated && !leader_has_tpus(group);
  // A leader outside all subgroups cannot follow a subgroup.
  const bool has_slice = !spec.topology_key.empty() || !group.subgroups->leader_excluded;
  return follows && has_slice ? tpu::kWithSlice : tpu::kAnywhere;
}

bool workers_follow_leader(const LeaderWorkerSetSpec& spec, const GroupTemplate& group, std::string_view slice_leader) {
  if (spec.topology_key.empty()) return false;
  if (!workers_are_slices(group)) return true;
  return slice_leader.empty() && !leader_is_host(group);
}

}  // namespace tpuslice::leaderworkerset
