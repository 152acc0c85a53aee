#include "controllers/slice/pod_patches.h"

#include <fmt/format.h>

#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

constexpr std::string_view kFailedPlaceSlice = "FailedPlaceSlice";
constexpr std::string_view kFailedTearDownSlice = "FailedTearDownSlice";

/// The pod's required node affinity, narrowed to one node.
Json affinity_for(const PodView& pod, const std::string& node) {
  const Json name = {{"key", "metadata.name"}, {"operator", "In"}, {"values", Json::array({node})}};
  Json required = parse_json(pod.node_affinity).value_or(Json::object());
  Json& terms = required["nodeSelectorTerms"];
  if (!terms.is_array() || terms.empty()) terms = Json::array({Json::object()});
  for (Json& term : terms) {
    // A term without expressions selects nothing, and the API server lets nobody change that.
    const bool selects_nothing = !pod.node_affinity.empty() && term.empty();
    if (!selects_nothing) term["matchFields"].push_back(name);
  }
  return {{"nodeAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", std::move(required)}}}};
}

}  // namespace

runtime::Action release_pod(const PodView& pod, const Release& release) {
  Json gates = Json::array();
  for (const std::string& gate : pod.scheduling_gates) {
    if (gate != tpu::kSliceGate) gates.push_back({{"name", gate}});
  }
  Json annotations = {{tpu::kSliceMembers, release.members},
                      {tpu::kPlacedAt, format_rfc3339(release.placed_at)},
                      {tpu::kWaiting, nullptr}};
  Json patch = {{"metadata", {{"annotations", std::move(annotations)}}}, {"spec", {{"schedulingGates", gates}}}};
  if (!release.domain.empty()) {
    patch["metadata"]["annotations"][std::string(tpu::kPlacedIn)] = release.domain;
    patch["spec"]["nodeSelector"] = {{release.topology_key, release.domain}};
  }
  const std::optional<int> host = host_index(pod);
  if (host && static_cast<std::size_t>(*host) < release.nodes.size()) {
    patch["spec"]["affinity"] = affinity_for(pod, release.nodes[static_cast<std::size_t>(*host)]);
    if (*host == 0) {
      patch["metadata"]["annotations"][std::string(tpu::kPlacedOn)] = fmt::format("{}", fmt::join(release.nodes, ","));
    }
  }
  runtime::Action action = runtime::Action::patch(kPods, pod.key, std::move(patch), {pod.uid, pod.resource_version});
  action.failure_reason = kFailedPlaceSlice;
  return action;
}

runtime::Action tell_pod(const PodView& pod, const std::string& why) {
  Json patch = {{"metadata", {{"annotations", {{tpu::kWaiting, why}}}}}};
  return runtime::Action::patch(kPods, pod.key, std::move(patch), {.uid = pod.uid});
}

runtime::Action delete_pod(const PodView& pod) {
  runtime::Action action = runtime::Action::remove(kPods, pod.key, {.uid = pod.uid});
  action.failure_reason = kFailedTearDownSlice;
  return action;
}

}  // namespace tpuslice::slice
