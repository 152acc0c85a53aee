#include "controllers/rayjob/dashboard_address.h"

#include <algorithm>

#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/labels.h"

namespace tpuslice::rayjob {

const PodView* find_head(const RayJobObserved& seen) {
  const auto found = std::ranges::find_if(seen.pods, [&](const auto& pod) {
    return pod->label(raycluster::kRayNodeType) == raycluster::kHeadNode && !pod->terminating() &&
           seen.cluster != nullptr && pod->controller && pod->controller->uid == seen.cluster->uid;
  });
  return found == seen.pods.end() ? nullptr : found->get();
}

std::optional<ray::Dashboard> find_dashboard(const RayJobState& state) {
  const ObjectView* live = state.usable_cluster();
  const PodView* head = find_head(state.seen);
  if (live == nullptr || head == nullptr) return std::nullopt;
  const Object cluster = live->object();
  return ray::dashboard_of(raycluster::RayClusterSpec::read(cluster), *head, state.options.cluster_domain);
}

std::optional<plan::WorkloadRequest> stop_request(const RayJobState& state) {
  const std::optional<ray::Dashboard> dashboard = find_dashboard(state);
  if (!dashboard) return std::nullopt;
  plan::WorkloadRequest request = ray::stop_job(*dashboard, state.status.job_id);
  request.interval = state.options.poll;
  return request;
}

}  // namespace tpuslice::rayjob
