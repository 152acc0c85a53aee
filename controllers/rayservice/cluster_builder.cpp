#include "controllers/rayservice/cluster_builder.h"

#include <algorithm>
#include <utility>

#include "api/types/patch.h"
#include "controllers/ray/child_cluster.h"
#include "controllers/raycluster/upgrade.h"
#include "controllers/rayservice/cluster_suspension.h"
#include "controllers/rayservice/rules/rayservice_labels.h"

namespace tpuslice::rayservice {
namespace {

/// Annotations of a cluster that has the config.
Json config_annotations(const ConfigHash& config) {
  Json out = Json::object();
  out[std::string(kClusterHash)] = config.whole();
  out[std::string(kNumberOfGroups)] = std::to_string(config.groups());
  out[std::string(kClusterHashVersion)] = raycluster::kHashVersion;
  out[std::string(kReplicas)] = config.replicas().dump();
  return out;
}

void copy_member(const Json& from, const char* member, Json& to) {
  const auto found = from.find(member);
  if (found != from.end()) {
    to[member] = *found;
  } else {
    to.erase(member);
  }
}

const Json* find_group(const Json& spec, const std::string& name) {
  const Json& groups = array_at(spec, {"workerGroupSpecs"});
  const auto found =
      std::ranges::find_if(groups, [&](const Json& group) { return string_at(group, {"groupName"}) == name; });
  return found == groups.end() ? nullptr : &*found;
}

/// `config` with those fields of the live cluster that the RayService does not control.
Json take_over(const Json& live, Json config) {
  copy_member(live, "suspend", config);
  const auto groups = config.find("workerGroupSpecs");
  if (groups == config.end() || !groups->is_array()) return config;
  for (Json& group : *groups) {
    const Json* of_live = find_group(live, string_at(group, {"groupName"}));
    if (of_live == nullptr || !group.is_object()) continue;
    copy_member(*of_live, "scaleStrategy", group);
    if (bool_at(config, {"enableInTreeAutoscaling"})) copy_member(*of_live, "replicas", group);
  }
  return config;
}

Json append_groups(Json live, const Json& config) {
  const Json& groups = array_at(config, {"workerGroupSpecs"});
  Json& list = live["workerGroupSpecs"];
  if (!list.is_array()) list = Json::array();
  for (std::size_t i = list.size(); i < groups.size(); ++i) list.push_back(groups[i]);
  return live;
}

/// Sets the numbers of replicas of the groups whose numbers in the RayService have changed.
Json set_replicas(Json live, const Json& config, const Json& numbers, const Json& applied) {
  const bool autoscaled = bool_at(config, {"enableInTreeAutoscaling"});
  const auto groups = live.find("workerGroupSpecs");
  if (groups == live.end() || !groups->is_array()) return live;
  for (Json& group : *groups) {
    const std::string name = string_at(group, {"groupName"});
    const Json* wanted = find_group(config, name);
    if (wanted == nullptr || applied.value(name, Json()) == numbers.value(name, Json())) continue;
    for (const char* member : {"minReplicas", "maxReplicas", "replicas"}) {
      if (!autoscaled || std::string_view(member) != "replicas") copy_member(*wanted, member, group);
    }
  }
  return live;
}

/// Copies the tolerations and scheduling gates of the pods of a group.
void copy_scheduling(const Json* from, Json& group) {
  const Json* pod = from == nullptr ? nullptr : find_set(*from, {"template", "spec"});
  const Json* live = find_set(group, {"template", "spec"});
  if (pod == nullptr || live == nullptr || !live->is_object()) return;
  for (const char* member : {"tolerations", "schedulingGates"}) copy_member(*pod, member, group["template"]["spec"]);
}

/// Pods that are created from now on have the tolerations and scheduling gates of the config.
Json update_scheduling(Json live, const Json& config) {
  if (const auto head = live.find("headGroupSpec"); head != live.end()) {
    copy_scheduling(find_set(config, {"headGroupSpec"}), *head);
  }
  const auto groups = live.find("workerGroupSpecs");
  if (groups == live.end() || !groups->is_array()) return live;
  for (Json& group : *groups) copy_scheduling(find_group(config, string_at(group, {"groupName"})), group);
  return live;
}

void apply_suspend(const RayServiceState& state, bool suspend, Json& spec, Json& annotations, std::string& reason) {
  spec["suspend"] = suspend;
  if (!suspend) spec = update_scheduling(std::move(spec), *state.spec.cluster_config);
  annotations[std::string(kSuspend)] = suspend_record(state);
  if (!reason.empty()) reason += ", and ";
  reason += suspend ? "rayClusterConfig.suspend is true" : "rayClusterConfig.suspend is not true";
}

void erase_replicas(Json& spec) {
  const auto groups = spec.find("workerGroupSpecs");
  if (groups == spec.end() || !groups->is_array()) return;
  for (Json& group : *groups) {
    if (group.is_object()) group.erase("replicas");
  }
}

/// Those labels or annotations of `desired` that the live cluster lacks, or has with another value.
Json missing_values(const Object& desired, const Object& live, std::string_view field) {
  const StringMap present = string_map_at(live.json(), {"metadata", field});
  Json out = Json::object();
  for (const auto& [key, value] : string_map_at(desired.json(), {"metadata", field})) {
    const auto found = present.find(key);
    if (found == present.end() || found->second != value) out[key] = value;
  }
  return out;
}

}  // namespace

Object build_cluster(const RayServiceState& state, std::string name, const ConfigHash& config, bool grows) {
  Object cluster = ray::build_child_cluster(state.seen.service, std::move(name), *state.spec.cluster_config);
  if (grows) erase_replicas(cluster.mutable_json()["spec"]);
  Json& annotations = cluster.mutable_json()["metadata"]["annotations"];
  if (!annotations.is_object()) annotations = Json::object();
  annotations.update(config_annotations(config));
  if (Json record = suspend_record(state); !record.is_null()) annotations[std::string(kSuspend)] = std::move(record);
  return cluster;
}

ClusterUpdate update_cluster(const RayServiceState& state, const Cluster& cluster, const ConfigHash& config) {
  const Json& wanted = *state.spec.cluster_config;
  const Json* found = find_set(cluster.object.json(), {"spec"});
  const Json live = found == nullptr ? Json::object() : *found;
  Json spec = live;
  ClusterUpdate out;
  Json annotations = Json::object();
  if (is_of_other_operator(cluster)) {
    out.reason = "another operator made it";
    spec = take_over(live, wanted);
    annotations = config_annotations(config);
  } else {
    if (config.appends_groups(cluster)) {
      out.reason = "worker groups are added";
      spec = append_groups(std::move(spec), wanted);
      annotations = config_annotations(config);
    }
    const Result<Json> recorded = parse_json(cluster.annotation(kReplicas));
    const Json applied = recorded && recorded->is_object() ? *recorded : Json::object();
    if (applied != config.replicas()) {
      if (out.reason.empty()) out.reason = "numbers of replicas have changed";
      spec = set_replicas(std::move(spec), wanted, config.replicas(), applied);
      annotations[std::string(kReplicas)] = config.replicas().dump();
    }
  }
  if (const std::optional<bool> suspend = change_of_suspend(state, cluster)) {
    apply_suspend(state, *suspend, spec, annotations, out.reason);
  }
  if (annotations.empty()) return out;
  const Object desired = ray::build_child_cluster(state.seen.service, cluster.name(), Json::object());
  Json metadata = {{"annotations", missing_values(desired, cluster.object, "annotations")}};
  metadata["annotations"].update(annotations);
  Json labels = missing_values(desired, cluster.object, "labels");
  if (!labels.empty()) metadata["labels"] = std::move(labels);
  out.patch = {{"metadata", std::move(metadata)}};
  if (Json difference = merge_diff(live, spec); !difference.empty()) out.patch["spec"] = std::move(difference);
  return out;
}

ClusterUpdate update_suspension(const RayServiceState& state, const Cluster& cluster, bool may_resume) {
  ClusterUpdate out;
  const std::optional<bool> suspend = change_of_suspend(state, cluster);
  if (!suspend || (!*suspend && !may_resume)) return out;
  Json spec = Json::object();
  Json annotations = Json::object();
  apply_suspend(state, *suspend, spec, annotations, out.reason);
  out.patch = {{"metadata", {{"annotations", std::move(annotations)}}}, {"spec", std::move(spec)}};
  return out;
}

}  // namespace tpuslice::rayservice
