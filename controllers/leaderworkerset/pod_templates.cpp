#include "controllers/leaderworkerset/pod_templates.h"

#include <utility>

#include "controllers/leaderworkerset/labels.h"
#include "controllers/leaderworkerset/normal_form.h"

namespace tpuslice::leaderworkerset {
namespace {

constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

void put(StringMap& marks, std::string_view key, std::string value) {
  marks.insert_or_assign(std::string(key), std::move(value));
}

void put_map(Json& metadata, const char* map, const StringMap& marks) {
  Json& found = metadata[map];
  if (!found.is_object()) found = Json::object();
  for (const auto& [key, value] : marks) found[key] = value;
}

Json claim_template(const Json& claim, const std::string& namespace_name) {
  Json made = normal_volume_claim(claim);
  made.erase("status");
  made["apiVersion"] = "v1";
  made["kind"] = "PersistentVolumeClaim";
  if (!made["metadata"].is_object()) made["metadata"] = Json::object();
  made["metadata"]["namespace"] = namespace_name;
  return made;
}

}  // namespace

Json marked_template(const Json* pod, const StringMap& labels, const StringMap& annotations) {
  Json made = normal_pod_template(pod == nullptr ? Json::object() : *pod);
  Json& metadata = made["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  put_map(metadata, "labels", labels);
  put_map(metadata, "annotations", annotations);
  return made;
}

StringMap group_annotations(const LeaderWorkerSetSpec& spec, const GroupTemplate& group) {
  StringMap annotations;
  put(annotations, tpu::kLwsSize, std::to_string(group.size));
  if (!spec.topology_key.empty()) put(annotations, tpu::kLwsTopologyKey, spec.topology_key);
  if (!group.subgroups) return annotations;
  put(annotations, tpu::kLwsSubgroupPolicy, group.subgroups->leader_excluded ? "LeaderExcluded" : "LeaderWorker");
  put(annotations, tpu::kLwsSubgroupSize, std::to_string(group.subgroups->size));
  if (!spec.subgroup_topology_key.empty()) put(annotations, tpu::kLwsSubgroupTopologyKey, spec.subgroup_topology_key);
  return annotations;
}

StringMap inherit(const StringMap& metadata, const StringMap& marks) {
  StringMap all = metadata;
  if (const auto remembered = all.find(kLastApplied); remembered != all.end()) all.erase(remembered);
  for (const auto& [key, value] : marks) put(all, key, value);
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
