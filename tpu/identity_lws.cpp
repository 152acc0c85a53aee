// LeaderWorkerSets: a group is a leader and numbered workers; it, or each of its subgroups, is a slice.
#include <fmt/format.h>

#include "tpu/identity_parts.h"
#include "tpu/labels.h"
#include "tpu/lws_group.h"

namespace tpuslice::tpu {
namespace {

std::string annotation_of(const Json& pod, std::string_view name) {
  return string_at(pod, {"metadata", "annotations", name});
}

/// Where all groups have one service, it is the pod's; else each has one of its leader's name.
std::string subdomain_of_group(const Json& pod, std::string_view leader, bool per_group) {
  return per_group ? std::string(leader) : string_at(pod, {"spec", "subdomain"});
}

/// The slices that may work together are the subgroups of a group, or else the groups of a set.
void number_slice(SliceIdentity& identity, const Json& pod, const LwsGroup& group, bool per_group) {
  const int first = group.leader_has_tpus && !(group.leader_excluded && group.subgroup_size > 0) ? 0 : 1;
  const std::string set = string_at(pod, {"metadata", "labels", kLwsName});
  const std::string first_leader = group.subgroup_size > 0 ? group.leader : fmt::format("{}-0", set);
  identity.slice_index =
      group.subgroup_size > 0 ? group.subgroup_of(group.worker) - group.subgroup_of(first) : group.index;
  identity.coordinator =
      fmt::format("{}.{}", lws_hostnames(first_leader, first).of(0), subdomain_of_group(pod, first_leader, per_group));
}

/// Hosts by the topology, where the pod names one: then the group's must be as many, or slices of one host each.
Status take_members(SliceIdentity& identity, const Json& pod, const LwsGroup& group) {
  LwsGroup::Members members = group.members();
  ASSIGN_OR_RETURN(const std::optional<SliceShape> shape, selected_shape(pod));
  int hosts = members.count();
  if (shape) {
    ASSIGN_OR_RETURN(hosts, take_shape(identity, *shape));
  }
  const bool alone = hosts == 1 && members.count() > 1;
  if (hosts != members.count() && !alone) {
    return Error::invalid_argument("{}: Invalid value: \"{}\": {}, but {} pods with chips make up the slice of {}",
                                   annotation_path(group.subgroup_size > 0 ? kLwsSubgroupSize : kLwsSize),
                                   group.subgroup_size > 0 ? group.subgroup_size : group.size,
                                   describe_hosts(identity, hosts), members.count(),
                                   string_at(pod, {"metadata", "name"}));
  }
  if (alone) members = {group.worker, group.worker};
  identity.slice_name = alone ? string_at(pod, {"metadata", "name"}) : group.slice_name(group.worker);
  identity.hosts = members.count();
  identity.host_index = group.worker - members.first;
  identity.host_names = lws_hostnames(group.leader, members.first);
  return {};
}

}  // namespace

Result<MaybeIdentity> identify_lws_worker(const Json& pod, std::vector<TpuContainer> containers,
                                          std::vector<TpuContainer> init_containers) {
  ASSIGN_OR_RETURN(const std::optional<LwsGroup> group, read_lws_group(pod));
  if (!group) return MaybeIdentity();
  const bool per_group = annotation_of(pod, kLwsSubdomainPolicy) == "UniquePerReplica";
  SliceIdentity identity;
  identity.workload = Workload::kLeaderWorkerSet;
  identity.subdomain = subdomain_of_group(pod, group->leader, per_group);
  if (identity.subdomain.empty()) return MaybeIdentity();
  identity.containers = std::move(containers);
  identity.init_containers = std::move(init_containers);
  RETURN_IF_ERROR(take_members(identity, pod, *group));
  number_slice(identity, pod, *group, per_group);
  identity.owner = lws_slice_owner(pod, *group);
  const std::string subgroup_key = annotation_of(pod, kLwsSubgroupTopologyKey);
  identity.topology_key = subgroup_key.empty() ? annotation_of(pod, kLwsTopologyKey) : subgroup_key;
  // With exclusive topology the workers are created when their leader has a node; else perhaps when it is ready.
  const bool led = identity.host_names.of(0) == group->leader;
  if (led) identity.start = annotation_of(pod, kLwsTopologyKey).empty() ? kFirstHostAlone : kFirstHostFirst;
  return MaybeIdentity(std::move(identity));
}

}  // namespace tpuslice::tpu
