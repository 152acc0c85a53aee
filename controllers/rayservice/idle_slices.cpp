#include "controllers/rayservice/idle_slices.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayservice/serving.h"

namespace tpuslice::rayservice {
namespace {

/// Time in which replicas and proxies of Serve end, Ray's autoscaler sees that a slice is idle, and its pods end.
constexpr Duration kScaleDownTime = std::chrono::minutes(1);
/// Ray's default, in seconds.
constexpr std::int64_t kIdleTimeout = 60;

/// The longest time-out of idle workers of the RayCluster.
Duration idle_timeout(const Json& cluster) {
  const std::int64_t all =
      int32_at(cluster, {"spec", "autoscalerOptions", "idleTimeoutSeconds"}).value_or(kIdleTimeout);
  std::int64_t longest = all;
  for (const Json& group : array_at(cluster, {"spec", "workerGroupSpecs"})) {
    longest = std::max(longest, int32_at(group, {"idleTimeoutSeconds"}).value_or(all));
  }
  return std::chrono::seconds(longest);
}

/// Whether a slice has nodes and no replica: Serve has proxies only on hosts with replicas. minReplicas stay.
bool has_idle_slice(const Cluster& cluster, const std::vector<std::string>& proxies) {
  return std::ranges::any_of(cluster.spec.groups, [&](const raycluster::WorkerGroup& group) {
    std::map<std::string, bool> used;  // By replica.
    for (const PodPtr& pod : cluster.pods) {
      if (pod->node_name.empty() || pod->label(raycluster::kRayGroup) != group.name) continue;
      bool& slice = used[pod->label(raycluster::kRayReplicaIndex)];
      slice = slice || std::ranges::binary_search(proxies, pod->pod_ip);
    }
    return std::ssize(used) > group.min_replicas &&
           std::ranges::any_of(used, [](const auto& slice) { return !slice.second; });
  });
}

}  // namespace

std::optional<Duration> until_shrunk(const RayServiceState& state, const Cluster& cluster,
                                     const std::optional<Timestamp>& since, const Options& options) {
  if (!since) return std::nullopt;
  const Timestamp due =
      *since + state.spec.incremental->interval + idle_timeout(cluster.object.json()) + kScaleDownTime;
  if (state.seen.now >= due) return std::nullopt;
  const Serving serving = observe_serving(cluster, state.seen.answers, options);
  if (serving.ready() && !has_idle_slice(cluster, serving.info->proxies)) return std::nullopt;
  return due - state.seen.now;
}

}  // namespace tpuslice::rayservice
