// LeaderWorkerSets: a group is a leader and numbered workers; it, or each of its subgroups, is a slice.
#include <algorithm>

#include <fmt/format.h>

#include "tpu/identity_parts.h"
#include "tpu/labels.h"

namespace tpuslice::tpu {
namespace {

std::string annotation_of(const Json& pod, std::string_view name) {
  return string_at(pod, {"metadata", "annotations", name});
}

/// What the annotations and the name of a pod say about its group.
struct Group {
  std::string leader;  ///< Name of the leader pod, "<set>-<group>".
  int index = 0;       ///< Of the group in its set.
  int worker = 0;      ///< Of the pod in its group; the leader is 0.
  int size = 1;        ///< Pods of the group.
  int subgroup_size = 0;
  bool leader_excluded = false;  ///< The leader is in no subgroup.
  bool leader_has_tpus = false;

  /// Pods of the group from `first` to `last` that have TPUs. They are in a row: only the leader may be without.
  struct Members {
    int first;
    int last;
    [[nodiscard]] int count() const { return last - first + 1; }
  };

  [[nodiscard]] bool in_subgroup() const { return subgroup_size > 0 && !(leader_excluded && worker == 0); }

  /// Whether subgroups begin behind the leader, who joins the first.
  [[nodiscard]] bool shifted() const { return lws_leader_is_extra(size, subgroup_size); }

  /// Source: LeaderWorkerSet's label subgroup-index.
  [[nodiscard]] int subgroup_of(int pod) const {
    if (subgroup_size == 0 || pod == 0) return 0;
    return (shifted() ? pod - 1 : pod) / subgroup_size;
  }

  /// The TPU pods of the slice of this pod.
  [[nodiscard]] Members members() const {
    const int first_tpu = leader_has_tpus ? 0 : 1;
    if (subgroup_size == 0) return {first_tpu, size - 1};
    if (!in_subgroup()) return {0, 0};
    const int subgroup = subgroup_of(worker);
    const int begin = subgroup * subgroup_size + (shifted() ? 1 : 0);
    const int last = std::min(begin + subgroup_size, size) - 1;
    const bool with_leader = subgroup == 0 && leader_has_tpus && !leader_excluded;
    return {with_leader ? 0 : std::max(begin, 1), last};
  }
};

/// The number behind "<prefix>-" in a name.
std::optional<int> ordinal_behind(std::string_view name, std::string_view prefix) {
  if (name.size() <= prefix.size() || !name.starts_with(prefix) || name[prefix.size()] != '-') return std::nullopt;
  return parse_index(name.substr(prefix.size() + 1));
}

/// Nothing where the pod is not numbered as LeaderWorkerSet's StatefulSets do.
Result<std::optional<Group>> read_group(const Json& pod) {
  const std::string set = string_at(pod, {"metadata", "labels", kLwsName});
  const std::string name = string_at(pod, {"metadata", "name"});
  Group group;
  group.leader = annotation_of(pod, kLwsLeaderName);
  if (group.leader.empty()) {
    group.leader = name;
    group.leader_has_tpus = true;  // It would not be asked about otherwise.
  } else {
    const std::optional<int> worker = ordinal_behind(name, group.leader);
    if (!worker) return std::optional<Group>();
    group.worker = *worker;
    group.leader_has_tpus = annotation_of(pod, kLwsLeaderHasTpus) == "true";
  }
  const std::optional<int> index = ordinal_behind(group.leader, set);
  ASSIGN_OR_RETURN(const std::optional<int> size, index_annotation(pod, kLwsSize));
  ASSIGN_OR_RETURN(const std::optional<int> subgroup_size, index_annotation(pod, kLwsSubgroupSize));
  if (!index || !size) return std::optional<Group>();
  group.index = *index;
  group.size = *size;
  group.subgroup_size = subgroup_size.value_or(0);
  group.leader_excluded = annotation_of(pod, kLwsSubgroupPolicy) == "LeaderExcluded";
  if (group.worker >= group.size) {
    return Error::invalid_argument("{}: Invalid value: \"{}\": the group has no pod {}", annotation_path(kLwsSize),
                                   group.size, name);
  }
  return std::optional<Group>(std::move(group));
}

/// Where all groups have one service, it is the pod's; else each has one of its leader's name.
std::string subdomain_of_group(const Json& pod, std::string_view leader, bool per_group) {
  return per_group ? std::string(leader) : string_at(pod, {"spec", "subdomain"});
}

/// The slices that may work together are the subgroups of a group, or else the groups of a set.
void number_slice(SliceIdentity& identity, const Json& pod, const Group& group, bool per_group) {
  const int first = group.leader_has_tpus && !(group.leader_excluded && group.subgroup_size > 0) ? 0 : 1;
  const std::string set = string_at(pod, {"metadata", "labels", kLwsName});
  const std::string first_leader = group.subgroup_size > 0 ? group.leader : fmt::format("{}-0", set);
  identity.slice_index =
      group.subgroup_size > 0 ? group.subgroup_of(group.worker) - group.subgroup_of(first) : group.index;
  identity.coordinator =
      fmt::format("{}.{}", lws_hostnames(first_leader, first).of(0), subdomain_of_group(pod, first_leader, per_group));
}

/// Hosts by the topology, where the pod names one: then the group's must be as many, or slices of one host each.
Status take_members(SliceIdentity& identity, const Json& pod, const Group& group) {
  Group::Members members = group.members();
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
  identity.slice_name = alone ? string_at(pod, {"metadata", "name"}) : group.leader;
  if (!alone && group.in_subgroup()) {
    identity.slice_name += fmt::format("-subgroup-{}", group.subgroup_of(group.worker));
  }
  identity.hosts = members.count();
  identity.host_index = group.worker - members.first;
  identity.host_names = lws_hostnames(group.leader, members.first);
  return {};
}

}  // namespace

Result<MaybeIdentity> identify_lws_worker(const Json& pod, std::vector<TpuContainer> containers,
                                          std::vector<TpuContainer> init_containers) {
  ASSIGN_OR_RETURN(const std::optional<Group> group, read_group(pod));
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
  // Leader and workers have different owners; a leader's name is unique in its namespace.
  identity.owner = fmt::format("{}/{}", string_at(pod, {"metadata", "namespace"}), group->leader);
  const std::string subgroup_key = annotation_of(pod, kLwsSubgroupTopologyKey);
  identity.topology_key = subgroup_key.empty() ? annotation_of(pod, kLwsTopologyKey) : subgroup_key;
  // With exclusive topology the workers are created when their leader has a node; else perhaps when it is ready.
  const bool led = identity.host_names.of(0) == group->leader;
  if (led) identity.start = annotation_of(pod, kLwsTopologyKey).empty() ? kFirstHostAlone : kFirstHostFirst;
  return MaybeIdentity(std::move(identity));
}

}  // namespace tpuslice::tpu
