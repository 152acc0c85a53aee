#include "cmd/tpu-slice-operator/upstream.h"

#include <utility>

#include "api/workloads/jobset/spec.h"
#include "api/workloads/leaderworkerset/spec.h"
#include "controllers/raycluster/labels.h"

namespace tpuslice {
namespace {

/// Source of the names of Leases: the constants of ray-operator/main.go, pkg/config of jobset, cmd/main.go of lws.
/// Their charts have no value for them. Without leader election (a value of KubeRay's and JobSet's charts) there is no
/// Lease.
std::vector<runtime::UpstreamController> all() {
  return {
      {"KubeRay", "ray-operator-leader", raycluster::kRayClusters, {"raycluster", "rayjob", "rayservice"}},
      {"JobSet's controller", "6d4f6a47.jobset.x-k8s.io", jobset::kJobSets, {"jobset"}},
      {"LeaderWorkerSet's controller", "b8b2488c.x-k8s.io", leaderworkerset::kLeaderWorkerSets, {"leaderworkerset"}}};
}

}  // namespace

std::vector<runtime::UpstreamController> upstream_controllers(const OperatorOptions& options) {
  std::vector<runtime::UpstreamController> out;
  for (runtime::UpstreamController& each : all()) {
    std::erase_if(each.controllers, [&](const std::string& controller) {
      return !options.enables(controller) || options.takes_over(controller);
    });
    if (!each.controllers.empty()) out.push_back(std::move(each));
  }
  return out;
}

}  // namespace tpuslice
