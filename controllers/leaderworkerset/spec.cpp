#include "controllers/leaderworkerset/spec.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "controllers/leaderworkerset/labels.h"
#include "tpu/pod_request.h"
#include "webhook/rules/fields.h"
#include "webhook/rules/leaderworkerset/groups.h"

namespace tpuslice::leaderworkerset {
namespace {

/// Upstream's webhook writes None where Default was.
RestartPolicy restart_policy_of(const Json& set, const StringMap& annotations) {
  const std::string policy = string_at(set, {"spec", "leaderWorkerTemplate", "restartPolicy"});
  if (policy == "None" || policy == "Default") return RestartPolicy::kNone;
  if (policy == "RecreateGroupAfterStart" || annotations.contains(kRecreateAfterStart)) {
    return RestartPolicy::kRecreateGroupAfterStart;
  }
  return RestartPolicy::kRecreateGroupOnPodRestart;
}

GroupTemplate group_template_of(const Json& set, const webhook::LwsGroups& groups) {
  GroupTemplate group;
  group.size = static_cast<int>(groups.size);
  group.leader = groups.leader;
  group.worker = groups.worker;
  if (groups.subgroups) {
    group.subgroups = {static_cast<int>(groups.subgroups->size), groups.subgroups->leader_excluded};
  }
  group.service_per_group = string_at(set, {"spec", "networkConfig", "subdomainPolicy"}) == "UniquePerReplica";
  const Json* claims = webhook::find_set(set, {"spec", "leaderWorkerTemplate", "volumeClaimTemplates"});
  if (claims != nullptr && claims->is_array() && !claims->empty()) group.volume_claims = claims;
  group.claim_retention =
      webhook::find_set(set, {"spec", "leaderWorkerTemplate", "persistentVolumeClaimRetentionPolicy"});
  return group;
}

std::string value_or_empty(const StringMap& map, std::string_view key) {
  const auto found = map.find(key);
  return found == map.end() ? std::string() : found->second;
}

}  // namespace

GroupTemplate GroupTemplate::read(const Json& set) { return group_template_of(set, webhook::read_lws_groups(set)); }

bool GroupTemplate::leader_has_tpus() const {
  const Json* pod = leader == nullptr ? nullptr : webhook::find_set(*leader, {"spec"});
  if (pod == nullptr) return false;
  return std::ranges::any_of(std::array{"containers", "initContainers"}, [&](const char* list) {
    const auto containers = tpu::tpu_containers(*pod, list);
    return !containers || !containers->empty();  // A quantity that is none: TPUs were meant.
  });
}

LeaderWorkerSetSpec LeaderWorkerSetSpec::read(const Object& set) {
  const Json& json = set.json();
  const webhook::LwsGroups groups = webhook::read_lws_groups(json);
  const webhook::LwsRollout rollout = webhook::read_lws_rollout(json, groups);
  LeaderWorkerSetSpec spec;
  spec.key = set.key();
  spec.uid = set.uid();
  spec.generation = set.generation();
  spec.owner = set.as_controller();
  spec.labels = string_map_at(json, {"metadata", "labels"});
  spec.annotations = string_map_at(json, {"metadata", "annotations"});
  spec.replicas = static_cast<int>(groups.replicas);
  spec.group = group_template_of(json, groups);
  spec.restarts = restart_policy_of(json, spec.annotations);
  if (string_at(json, {"spec", "startupPolicy"}) == "LeaderReady") spec.startup = StartupPolicy::kLeaderReady;
  spec.rollout = {static_cast<int>(rollout.max_unavailable), static_cast<int>(rollout.max_surge),
                  static_cast<int>(rollout.partition)};
  spec.topology_key = value_or_empty(spec.annotations, tpu::kLwsTopologyKey);
  spec.subgroup_topology_key = value_or_empty(spec.annotations, tpu::kLwsSubgroupTopologyKey);
  return spec;
}

std::string group_name(const LeaderWorkerSetSpec& spec, int group) {
  return fmt::format("{}-{}", spec.key.name, group);
}

std::optional<int> group_of(const LeaderWorkerSetSpec& spec, std::string_view name) {
  const std::string& set = spec.key.name;
  if (name.size() <= set.size() + 1 || !name.starts_with(set) || name[set.size()] != '-') return std::nullopt;
  const std::string_view digits = name.substr(set.size() + 1);
  const bool canonical = digits == "0" || (digits.front() >= '1' && digits.front() <= '9');
  return canonical ? whole_number(digits) : std::nullopt;
}

}  // namespace tpuslice::leaderworkerset
