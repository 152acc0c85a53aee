#include "controllers/leaderworkerset/sets/pod_templates.h"

#include <utility>

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/normal_form.h"
#include "controllers/leaderworkerset/sets/placement.h"

namespace tpuslice::leaderworkerset {
namespace {

constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

void put(StringMap& map, std::string_view key, std::string value) {
  map.insert_or_assign(std::string(key), std::move(value));
}

void put_all(Json& metadata, const char* member, const StringMap& entries) {
  Json& map = metadata[member];
  if (!map.is_object()) map = Json::object();
  for (const auto& [key, value] : entries) map[key] = value;
}

Json claim_template(const Json& claim, const std::string& namespace_name) {
  Json out = normal_volume_claim(claim);
  out.erase("status");
  out["apiVersion"] = "v1";
  out["kind"] = "PersistentVolumeClaim";
  if (!out["metadata"].is_object()) out["metadata"] = Json::object();
  out["metadata"]["namespace"] = namespace_name;
  return out;
}

}  // namespace

Json group_pod_template(const Json* pod, const StringMap& labels, const StringMap& annotations) {
  Json out = normal_pod_template(pod == nullptr ? Json::object() : *pod);
  Json& metadata = out["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  put_all(metadata, "labels", labels);
  put_all(metadata, "annotations", annotations);
  return out;
}

StringMap group_annotations(const LeaderWorkerSetSpec& spec, const GroupTemplate& group) {
  StringMap annotations;
  put(annotations, kLwsSize, std::to_string(group.size));
  if (workers_are_slices(group)) put(annotations, tpu::kWorkloadUid, spec.uid);
  if (!spec.topology_key.empty()) put(annotations, kExclusiveTopology, spec.topology_key);
  if (!group.subgroups) return annotations;
  put(annotations, kLwsSubgroupPolicy, group.subgroups->leader_excluded ? "LeaderExcluded" : "LeaderWorker");
  put(annotations, kLwsSubgroupSize, std::to_string(group.subgroups->size));
  if (!spec.subgroup_topology_key.empty()) put(annotations, kSubgroupExclusiveTopology, spec.subgroup_topology_key);
  return annotations;
}

StringMap inherit(const StringMap& of_set, const StringMap& own) {
  StringMap all = of_set;
  if (const auto last_applied = all.find(kLastApplied); last_applied != all.end()) all.erase(last_applied);
  for (const auto& [key, value] : own) put(all, key, value);
  return all;
}

void add_volume_claims(const GroupTemplate& group, const std::string& namespace_name, Json& set_spec) {
  if (group.volume_claims != nullptr) {
    Json& claims = set_spec["volumeClaimTemplates"] = Json::array();
    for (const Json& claim : *group.volume_claims) claims.push_back(claim_template(claim, namespace_name));
  }
  if (group.claim_retention != nullptr) set_spec["persistentVolumeClaimRetentionPolicy"] = *group.claim_retention;
}

}  // namespace tpuslice::leaderworkerset
