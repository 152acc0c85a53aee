#include "controllers/leaderworkerset/rules/group_member.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "api/base/hash.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "tpu/env_var.h"
#include "tpu/labels.h"
#include "tpu/naming.h"
#include "tpu/placement.h"

namespace tpuslice::rules {
namespace {

using leaderworkerset::LwsGroup;

/// Bytes of a variable in the patch, besides its name and value.
constexpr std::int64_t kVariableOverhead = 64;

std::string member_annotation(const Json& pod, std::string_view name) {
  return string_at(pod, {"metadata", "annotations", name});
}

std::string namespace_of(const Json& pod) { return string_at(pod, {"metadata", "namespace"}); }

std::string group_key(const Json& pod, const LwsGroup& group) {
  return sha1_hex(fmt::format("{}/{}", namespace_of(pod), group.leader));
}

/// Key of the subgroup as upstream computes it, but without the namespace.
std::string subgroup_key(const LwsGroup& group) {
  return sha1_hex(fmt::format("{}/{}", group.leader, group.subgroup_of(group.worker)));
}

void prepend(Json& env, const std::array<tpu::EnvVar, 3>& variables) {
  Json joined = Json::array();
  for (const tpu::EnvVar& variable : variables) joined.push_back(variable.to_json());
  for (Json& entry : env) {
    const std::string name = string_at(entry, {"name"});
    const bool ours =
        std::ranges::any_of(variables, [&](const tpu::EnvVar& variable) { return variable.name == name; });
    if (!ours) joined.push_back(std::move(entry));
  }
  env = std::move(joined);
}

/// Affinity of a leader without TPUs to the slice of its workers.
void follow_workers(PodDraft& pod, const LwsGroup& group, std::string_view topology_key) {
  const tpu::SliceIdentity workers{.owner = leaderworkerset::lws_slice_owner(pod.json, group),
                                   .slice_name = group.slice_name(group.in_subgroup() ? 0 : 1)};
  tpu::add_affinity_to_slice(pod.spec("affinity"), tpu::slice_key(workers), topology_key);
}

std::string first_set(std::initializer_list<std::string> texts) {
  const auto found = std::ranges::find_if(texts, [](const std::string& text) { return !text.empty(); });
  return found == texts.end() ? std::string() : *found;
}

}  // namespace

void set_member_labels(PodDraft& pod, const LwsGroup& group) {
  const auto label = [&](std::string_view name, std::string value) { pod.metadata("labels", name) = std::move(value); };
  label(leaderworkerset::kLwsWorkerIndex, std::to_string(group.worker));
  label(leaderworkerset::kLwsGroupIndex, std::to_string(group.index));
  label(leaderworkerset::kLwsGroupKey, group_key(pod.json, group));
  if (group.in_subgroup()) {
    label(leaderworkerset::kLwsSubgroupIndex, std::to_string(group.subgroup_of(group.worker)));
    label(leaderworkerset::kLwsSubgroupKey, subgroup_key(group));
  }
  const bool own_service = member_annotation(pod.json, leaderworkerset::kLwsSubdomainPolicy) == "UniquePerReplica";
  if (group.is_leader() && own_service) pod.spec("subdomain") = group.leader;
}

std::string_view member_start(const Json& pod, const tpu::SliceIdentity& identity) {
  if (identity.start.empty()) return {};
  return member_annotation(pod, tpu::kSliceStart) == tpu::kOthersFollowHost0 ? tpu::kOthersFollowHost0
                                                                             : tpu::kHost0IfAlone;
}

void set_member_placement(PodDraft& pod, const LwsGroup& group, bool in_slice, std::string_view topology_key) {
  if (in_slice) return;
  const std::string of_group = member_annotation(pod.json, leaderworkerset::kExclusiveTopology);
  const std::string of_subgroup =
      group.in_subgroup() ? member_annotation(pod.json, leaderworkerset::kSubgroupExclusiveTopology) : std::string();
  const std::string where = group.is_leader() ? member_annotation(pod.json, tpu::kSliceLeader) : std::string();
  if (where == tpu::kAnywhere) return;
  if (where == tpu::kWithSlice) {
    follow_workers(
        pod, group,
        first_set({member_annotation(pod.json, tpu::kTopologyKey), of_subgroup, of_group, std::string(topology_key)}));
    return;
  }
  // The other pods of a group select their leader's domain.
  if (group.is_leader() && !of_group.empty()) {
    tpu::add_exclusive_affinity(pod.spec("affinity"), leaderworkerset::kLwsGroupKey, group_key(pod.json, group),
                                of_group);
  }
  if (!of_subgroup.empty()) {
    tpu::add_exclusive_affinity(pod.spec("affinity"), leaderworkerset::kLwsSubgroupKey, subgroup_key(group),
                                of_subgroup);
  }
}

Status inject_member_env(PodDraft& pod, const LwsGroup& group) {
  const std::string subdomain = string_at(pod.json, {"spec", "subdomain"});
  RETURN_IF_ERROR(tpu::check_host_part("spec.subdomain", subdomain));
  RETURN_IF_ERROR(tpu::check_host_part("metadata.namespace", namespace_of(pod.json)));
  const std::string address = fmt::format("{}.{}.{}", group.leader, subdomain, namespace_of(pod.json));
  const std::array<tpu::EnvVar, 3> variables{
      tpu::EnvVar{.name = "LWS_LEADER_ADDRESS", .value = address, .field_path = {}},
      tpu::EnvVar{.name = "LWS_GROUP_SIZE", .value = std::to_string(group.size), .field_path = {}},
      tpu::EnvVar{.name = "LWS_WORKER_INDEX", .value = std::to_string(group.worker), .field_path = {}}};
  std::int64_t bytes = 0;
  for (const tpu::EnvVar& variable : variables) {
    bytes += kVariableOverhead + static_cast<std::int64_t>(variable.name.size() + variable.value.size());
  }
  for (const char* list : {"containers", "initContainers"}) {
    const std::size_t containers = array_at(pod.json, {"spec", list}).size();
    RETURN_IF_ERROR(
        pod.budget.take({list, "LWS_LEADER_ADDRESS, LWS_GROUP_SIZE and LWS_WORKER_INDEX", bytes, containers}));
    for (std::size_t index = 0; index < containers; ++index) prepend(pod.env(list, index), variables);
  }
  return {};
}

}  // namespace tpuslice::rules
