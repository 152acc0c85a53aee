#include "controllers/slice/pod_patches.h"

#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

constexpr std::string_view kFailedPlaceSlice = "FailedPlaceSlice";
constexpr std::string_view kFailedTearDownSlice = "FailedTearDownSlice";

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
