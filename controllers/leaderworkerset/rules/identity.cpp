// LeaderWorkerSet: a group is a leader and numbered workers; it, or each of its subgroups, is a slice.
#include "controllers/leaderworkerset/rules/leaderworkerset_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/lws_group.h"
#include "tpu/identity_parts.h"
#include "tpu/labels.h"

namespace tpuslice::leaderworkerset {
namespace {

/// Source: LeaderWorkerSet's accelerator utilities.
constexpr tpu::EnvConvention kEnvConvention{.process_port = 8476,
                                            .always_addresses = true,
                                            .hostnames_per_process = true,
                                            .hostnames_of_single_host = true,
                                            .respects_user_identity = true};

std::string annotation_of(const Json& pod, std::string_view name) {
  return string_at(pod, {"metadata", "annotations", name});
}

/// The shared service, or the service of the group, which has the leader's name.
std::string subdomain_of_group(const Json& pod, std::string_view leader, bool per_group) {
  return per_group ? std::string(leader) : string_at(pod, {"spec", "subdomain"});
}

/// A multislice consists of the subgroups of a group, or of the groups of a set.
void set_slice_index(tpu::SliceIdentity& identity, const Json& pod, const LwsGroup& group, bool per_group) {
  const int first = group.leader_has_tpus && !(group.leader_excluded && group.subgroup_size > 0) ? 0 : 1;
  const std::string set = string_at(pod, {"metadata", "labels", kLwsName});
  const std::string first_leader = group.subgroup_size > 0 ? group.leader : fmt::format("{}-0", set);
  identity.slice_index =
      group.subgroup_size > 0 ? group.subgroup_of(group.worker) - group.subgroup_of(first) : group.index;
  identity.coordinator =
      fmt::format("{}.{}", lws_hostnames(first_leader, first).of(0), subdomain_of_group(pod, first_leader, per_group));
}

/// If the pod selects a topology, the slice must have as many pods as that has hosts, or be a single host.
Status set_hosts(tpu::SliceIdentity& identity, const Json& pod, const LwsGroup& group) {
  LwsGroup::Members members = group.members();
  ASSIGN_OR_RETURN(const std::optional<tpu::SliceShape> shape, tpu::selected_shape(pod));
  int hosts = members.count();
  if (shape) {
    ASSIGN_OR_RETURN(hosts, tpu::set_shape(identity, *shape));
  }
  const std::size_t processes = std::max<std::size_t>(identity.containers.size(), 1);
  if (static_cast<std::size_t>(members.count()) > tpu::kMaxSliceHosts / processes) {
    return Error::invalid_argument(
        "{}: Invalid value: \"{}\": {} pods with {} TPU container{} each; a slice has no more "
        "than {} processes",
        tpu::annotation_path(group.subgroup_size > 0 ? kLwsSubgroupSize : kLwsSize),
        group.subgroup_size > 0 ? group.subgroup_size : group.size, members.count(), processes,
        processes == 1 ? "" : "s", tpu::kMaxSliceHosts);
  }
  const bool single_hosts = hosts == 1 && members.count() > 1;
  if (hosts != members.count() && !single_hosts) {
    return Error::invalid_argument("{}: Invalid value: \"{}\": {}, but {} pods with chips make up the slice of {}",
                                   tpu::annotation_path(group.subgroup_size > 0 ? kLwsSubgroupSize : kLwsSize),
                                   group.subgroup_size > 0 ? group.subgroup_size : group.size,
                                   tpu::describe_hosts(identity, hosts), members.count(),
                                   string_at(pod, {"metadata", "name"}));
  }
  if (single_hosts) members = {group.worker, group.worker};
  identity.slice_name = single_hosts ? string_at(pod, {"metadata", "name"}) : group.slice_name(group.worker);
  identity.hosts = members.count();
  identity.host_index = group.worker - members.first;
  identity.host_names = lws_hostnames(group.leader, members.first);
  return {};
}

}  // namespace

Result<std::optional<tpu::SliceIdentity>> identify_pod(const Json& pod) {
  ASSIGN_OR_RETURN(std::vector<tpu::TpuContainer> containers, tpu::pod_containers(pod));
  ASSIGN_OR_RETURN(std::vector<tpu::TpuContainer> init_containers, tpu::pod_containers(pod, "initContainers"));
  if (containers.empty() && init_containers.empty()) return tpu::MaybeIdentity();
  ASSIGN_OR_RETURN(const std::optional<LwsGroup> group, read_lws_group(pod));
  if (!group) return tpu::MaybeIdentity();
  const bool per_group = annotation_of(pod, kLwsSubdomainPolicy) == "UniquePerReplica";
  tpu::SliceIdentity identity;
  identity.env = kEnvConvention;
  identity.subdomain = subdomain_of_group(pod, group->leader, per_group);
  if (identity.subdomain.empty()) return tpu::MaybeIdentity();
  RETURN_IF_ERROR(tpu::check_host_part("spec.subdomain", identity.subdomain));
  identity.containers = std::move(containers);
  identity.init_containers = std::move(init_containers);
  RETURN_IF_ERROR(set_hosts(identity, pod, *group));
  set_slice_index(identity, pod, *group, per_group);
  identity.owner = lws_slice_owner(pod, *group);
  const std::string subgroup_key = annotation_of(pod, kSubgroupExclusiveTopology);
  identity.topology_key = subgroup_key.empty() ? annotation_of(pod, kExclusiveTopology) : subgroup_key;
  // With exclusive topology, workers are created once their leader has a node; otherwise possibly once it is ready.
  const bool leader_is_host = identity.host_names.of(0) == group->leader;
  if (leader_is_host) {
    identity.start = annotation_of(pod, kExclusiveTopology).empty() ? tpu::kHost0IfAlone : tpu::kOthersFollowHost0;
  }
  return tpu::MaybeIdentity(std::move(identity));
}

}  // namespace tpuslice::leaderworkerset
