// The services of a RayService with NewClusterWithIncrementalUpgrade. Each cluster has a serve service of its own, to
// which the HTTPRoute refers; the head service selects the active cluster.
#pragma once

#include <string>
#include <vector>

#include "controllers/rayservice/incremental_upgrade.h"
#include "controllers/rayservice/services.h"
#include "controllers/rayservice/upgrade.h"

namespace tpuslice::rayservice {

/// "<cluster>-serve-svc"
[[nodiscard]] std::string cluster_serve_service_name(const std::string& cluster);
[[nodiscard]] std::string cluster_serve_service_name(const Cluster& cluster);

/// `active`: the cluster that is active from now on; null before the first one serves. The RayClusters own their serve
/// services, as upstream; one with the annotation ray.io/enable-serve-service has it from its own controller. A serve
/// service of the RayService itself, from before with another strategy, follows the larger part of the traffic.
[[nodiscard]] std::vector<Service> decide_cluster_services(const RayServiceState& state, const ClusterChoice& choice,
                                                           const Cluster* active, const Split& traffic,
                                                           const Options& options);

}  // namespace tpuslice::rayservice
