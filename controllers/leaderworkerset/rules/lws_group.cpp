#include "controllers/leaderworkerset/rules/lws_group.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "tpu/identity_parts.h"
#include "tpu/labels.h"
#include "tpu/naming.h"

namespace tpuslice::leaderworkerset {
namespace {

std::string lws_annotation(const Json& pod, std::string_view name) {
  return string_at(pod, {"metadata", "annotations", name});
}

/// The number after "<prefix>-" in a name.
std::optional<int> ordinal_after(std::string_view name, std::string_view prefix) {
  if (name.size() <= prefix.size() || !name.starts_with(prefix) || name[prefix.size()] != '-') return std::nullopt;
  return parse_count(name.substr(prefix.size() + 1));
}

/// The leader by the name of the pod: "<set>-<group>" for a leader, "<set>-<group>-<worker>" for a worker.
std::string leader_of(const std::string& pod, const std::string& set) {
  return ordinal_after(pod, set) ? pod : pod.substr(0, pod.rfind('-'));
}

}  // namespace

bool LwsGroup::shifted() const { return lws_leader_is_extra(size, subgroup_size); }

int LwsGroup::subgroup_of(int pod) const {
  if (subgroup_size == 0 || pod == 0) return 0;
  return (shifted() ? pod - 1 : pod) / subgroup_size;
}

LwsGroup::Members LwsGroup::members() const {
  const int first_tpu = leader_has_tpus ? 0 : 1;
  if (subgroup_size == 0) return {first_tpu, size - 1};
  if (!in_subgroup()) return {0, 0};
  const int subgroup = subgroup_of(worker);
  const int begin = subgroup * subgroup_size + (shifted() ? 1 : 0);
  const auto last = static_cast<int>(std::min<std::int64_t>(std::int64_t{begin} + subgroup_size, size)) - 1;
  const bool with_leader = subgroup == 0 && leader_has_tpus && !leader_excluded;
  return {with_leader ? 0 : std::max(begin, 1), last};
}

std::string LwsGroup::slice_name(int pod) const {
  const bool subgroup = subgroup_size > 0 && !(leader_excluded && pod == 0);
  return subgroup ? fmt::format("{}-subgroup-{}", leader, subgroup_of(pod)) : leader;
}

Result<std::optional<LwsGroup>> read_lws_group(const Json& pod) {
  const std::string set = string_at(pod, {"metadata", "labels", kLwsName});
  if (set.empty()) return std::optional<LwsGroup>();
  const std::string name = string_at(pod, {"metadata", "name"});
  LwsGroup group;
  group.leader = lws_annotation(pod, kLwsLeaderName);
  const bool annotated = !group.leader.empty();
  if (!annotated) group.leader = leader_of(name, set);
  if (!annotated && group.leader == name) {
    group.leader_has_tpus = true;  // Only read for pods with TPUs.
  } else {
    const std::optional<int> worker = ordinal_after(name, group.leader);
    if (!worker) return std::optional<LwsGroup>();
    group.worker = *worker;
    group.leader_has_tpus = lws_annotation(pod, kLwsLeaderHasTpus) == "true";
  }
  const std::optional<int> index = ordinal_after(group.leader, set);
  ASSIGN_OR_RETURN(const std::optional<int> size, tpu::index_annotation(pod, kLwsSize));
  ASSIGN_OR_RETURN(const std::optional<int> subgroup_size, tpu::index_annotation(pod, kLwsSubgroupSize));
  if (!index || !size) return std::optional<LwsGroup>();
  group.index = *index;
  group.size = *size;
  group.subgroup_size = subgroup_size.value_or(0);
  RETURN_IF_ERROR(tpu::check_host_part("metadata.name", name));  // It begins with the leader's name.
  group.leader_excluded = lws_annotation(pod, kLwsSubgroupPolicy) == "LeaderExcluded";
  if (group.worker >= group.size) {
    return Error::invalid_argument("{}: Invalid value: \"{}\": the group has no pod {}", tpu::annotation_path(kLwsSize),
                                   group.size, name);
  }
  return std::optional<LwsGroup>(std::move(group));
}

std::string lws_slice_owner(const Json& pod, const LwsGroup& group) {
  return fmt::format("{}/{}", string_at(pod, {"metadata", "namespace"}), group.leader);
}

tpu::HostNames lws_hostnames(std::string_view leader, int first) {
  return {first == 0 ? std::string(leader) : std::string(), fmt::format("{}-", leader), first};
}

}  // namespace tpuslice::leaderworkerset
