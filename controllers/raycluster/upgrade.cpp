#include "controllers/raycluster/upgrade.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "api/base/hash.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {
namespace {

constexpr std::size_t kAnnotationHashLength = 13;

/// Removes what has no effect: null, and the empty objects that Go's typed clients add.
Json normal_form(const Json& json) {
  static const std::set<std::string_view> kOftenEmpty{"metadata", "resources", "status"};
  if (json.is_array()) {
    Json out = Json::array();
    for (const Json& element : json) out.push_back(normal_form(element));
    return out;
  }
  if (!json.is_object()) return json;
  Json out = Json::object();
  for (const auto& [key, value] : json.items()) {
    Json member = normal_form(value);
    if (member.is_null() || (member.is_object() && member.empty() && kOftenEmpty.contains(key))) continue;
    out[key] = std::move(member);
  }
  return out;
}

void erase(Json& object, const char* key) {
  if (object.is_object()) object.erase(key);
}

/// Removes the fields of the pod template that Kueue sets when it admits a cluster.
void erase_queueing(Json& group) {
  if (!group.is_object() || !group.contains("template") || !group["template"].is_object()) return;
  Json& pod = group["template"];
  if (!pod.contains("spec")) return;
  erase(pod["spec"], "tolerations");
  erase(pod["spec"], "schedulingGates");
}

bool has_other_spec(const PodView& pod, std::string_view hash) {
  return pod.annotation(kSpecHashVersion) == kHashVersion && pod.annotation(kSpecHash) != hash;
}

/// The annotations that the pod of an earlier operator lacks.
StringMap missing_annotations(const PodView& pod, const StringMap& wanted) {
  StringMap out;
  const bool other_version = pod.annotation(kSpecHashVersion) != kHashVersion;
  for (const auto& [key, value] : wanted) {
    const bool of_spec = key == kSpecHash || key == kSpecHashVersion;
    if (of_spec ? other_version : pod.annotation(key).empty()) out.emplace(key, value);
  }
  return out;
}

}  // namespace

std::string spec_hash(const RayClusterSpec& spec) {
  if (spec.source == nullptr) return {};
  Json json = *spec.source;
  erase(json, "upgradeStrategy");
  erase(json, "suspend");
  if (json.contains("headGroupSpec")) erase_queueing(json["headGroupSpec"]);
  if (json.contains("workerGroupSpecs") && json["workerGroupSpecs"].is_array()) {
    for (Json& group : json["workerGroupSpecs"]) {
      for (const char* key : {"replicas", "minReplicas", "maxReplicas", "scaleStrategy"}) erase(group, key);
      erase_queueing(group);
    }
  }
  return short_hash(normal_form(json).dump(), kAnnotationHashLength);
}

std::string template_hash(const RayClusterSpec& spec, const WorkerGroup& group) {
  Json json = {{"rayStartParams", group.ray_start_params},
               {"resources", group.resources},
               {"labels", group.labels},
               {"rayVersion", spec.ray_version}};
  if (group.pod_template != nullptr) json["template"] = *group.pod_template;
  if (spec.autoscaling.explicit_v2()) json["restartPolicy"] = "Never";
  erase_queueing(json);
  return short_hash(normal_form(json).dump(), kAnnotationHashLength);
}

StringMap hash_annotations(const RayClusterSpec& spec, const WorkerGroup* group) {
  StringMap out;
  out.emplace(kSpecHash, spec_hash(spec));
  out.emplace(kSpecHashVersion, kHashVersion);
  if (group != nullptr) out.emplace(kTemplateHash, template_hash(spec, *group));
  return out;
}

bool has_other_template(const PodView& pod, std::string_view hash) {
  const std::string& built_from = pod.annotation(kTemplateHash);
  return !built_from.empty() && built_from != hash;
}

UpgradeDecision decide_upgrade(const RayClusterSpec& spec, const PodsByType& pods) {
  UpgradeDecision out;
  if (!spec.recreate && !spec.rolling) return out;
  std::vector<PodPtr> all = pods.heads;
  all.insert(all.end(), pods.workers.begin(), pods.workers.end());
  if (spec.recreate) {
    const std::string hash = spec_hash(spec);
    out.recreating = std::ranges::any_of(all, [&](const PodPtr& pod) { return has_other_spec(*pod, hash); });
    if (out.recreating) {
      out.deletes = not_terminating(all);
      return out;
    }
  }
  std::map<std::string, StringMap> of_group;  // Wanted annotations; of the head under the empty name.
  of_group[""] = hash_annotations(spec, nullptr);
  for (const WorkerGroup& group : spec.groups) of_group[group.name] = hash_annotations(spec, &group);
  const std::set<PodPtr> heads(pods.heads.begin(), pods.heads.end());
  for (const PodPtr& pod : not_terminating(all)) {
    const auto wanted = of_group.find(heads.contains(pod) ? std::string() : pod->label(kRayGroup));
    if (wanted == of_group.end()) continue;
    if (StringMap missing = missing_annotations(*pod, wanted->second); !missing.empty()) {
      out.records.push_back({pod, std::move(missing)});
    }
  }
  return out;
}

}  // namespace tpuslice::raycluster
