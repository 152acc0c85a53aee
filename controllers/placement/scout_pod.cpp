#include "controllers/placement/scout_pod.h"

#include <fmt/format.h>

#include "api/base/hash.h"
#include "controllers/placement/scouts.h"
#include "tpu/chips.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

constexpr std::size_t kHashLength = 13;

Json tolerations_of(const PodView& pod) {
  Json tolerations = Json::array();
  for (const TolerationView& each : pod.scheduling->tolerations) {
    Json toleration = {{"operator", each.exists ? "Exists" : "Equal"}};
    if (!each.key.empty()) toleration["key"] = each.key;
    if (!each.exists) toleration["value"] = each.value;
    if (!each.effect.empty()) toleration["effect"] = each.effect;
    tolerations.push_back(std::move(toleration));
  }
  return tolerations;
}

/// The pod's required node affinity, without the avoided domains.
Json node_affinity(const PodView& pod, const std::string& topology_key, const std::vector<std::string>& avoided) {
  Json required = pod.scheduling->node_affinity.empty()
                      ? Json::object()
                      : parse_json(pod.scheduling->node_affinity).value_or(Json::object());
  if (!avoided.empty()) {
    Json& terms = required["nodeSelectorTerms"];
    const bool none = !terms.is_array() || terms.empty();
    if (none) terms = Json::array({Json::object()});
    for (Json& term : terms) {
      if (term.empty() && !none) continue;  // An empty term matches no node.
      term["matchExpressions"].push_back({{"key", topology_key}, {"operator", "NotIn"}, {"values", avoided}});
    }
  }
  return required;
}

Json affinity_of(const Slice& slice, const PodView& pod, const std::vector<std::string>& avoided) {
  const Json any_slice = {{"key", tpu::kSlice}, {"operator", "Exists"}};
  const Json away = {{"labelSelector", {{"matchExpressions", Json::array({any_slice})}}},
                     {"namespaceSelector", Json::object()},
                     {"topologyKey", slice.topology_key}};
  constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  Json affinity = {{"podAntiAffinity", {{kRequired, Json::array({away})}}}};
  if (Json required = node_affinity(pod, slice.topology_key, avoided); !required.empty()) {
    affinity["nodeAffinity"][kRequired] = std::move(required);
  }
  return affinity;
}

/// The container as the Pod Security Standard "restricted" demands it.
Json container_of(const PodView& pod, const ScaleUpOptions& options) {
  const std::string chips = std::to_string(tpu::chips_of(pod));
  return {{"name", "scout"},
          {"image", options.image},
          {"resources", {{"limits", {{tpu::kTpuResource, chips}}}, {"requests", {{tpu::kTpuResource, chips}}}}},
          {"securityContext",
           {{"allowPrivilegeEscalation", false},
            {"readOnlyRootFilesystem", true},
            {"capabilities", {{"drop", Json::array({"ALL"})}}}}}};
}

}  // namespace

std::string scout_name(const ObjectKey& slice) { return "scout-" + short_hash(slice.to_string(), kHashLength); }

Json scout_pod(const Slice& slice, const std::vector<std::string>& avoided, const ScaleUpOptions& options) {
  const PodView& host = *slice.hosts.front();
  Json selector = Json::object();
  for (const auto& [label, value] : host.scheduling->node_selector) selector[label] = value;
  Json pod;
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  pod["metadata"] = {{"name", scout_name(slice.key)},
                     {"namespace", options.namespace_name},
                     {"labels", {{tpu::kSlice, tpu::kNoSlice}, {tpu::kAppName, kScoutPriorityClass}}},
                     {"annotations",
                      {{tpu::kScoutFor, slice.key.to_string()},
                       {tpu::kScoutAvoids, fmt::format("{}", fmt::join(avoided, ","))},
                       {"cluster-autoscaler.kubernetes.io/safe-to-evict", "true"}}}};
  pod["spec"] = {{"priorityClassName", kScoutPriorityClass},
                 {"automountServiceAccountToken", false},
                 {"enableServiceLinks", false},
                 {"terminationGracePeriodSeconds", 0},
                 {"securityContext",
                  {{"runAsNonRoot", true}, {"runAsUser", 65534}, {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
                 {"nodeSelector", std::move(selector)},
                 {"tolerations", tolerations_of(host)},
                 {"affinity", affinity_of(slice, host, avoided)},
                 {"containers", Json::array({container_of(host, options)})}};
  return pod;
}

}  // namespace tpuslice::placement
