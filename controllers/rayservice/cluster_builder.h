// The RayClusters of a RayService: as they are made, and what is changed in place.
#pragma once

#include <string>

#include "controllers/rayservice/config_hash.h"
#include "controllers/rayservice/rayservice_state.h"

namespace tpuslice::rayservice {

/// `grows`: of an incremental upgrade. It has no numbers of replicas, so that it begins with minReplicas, and Ray's
/// autoscaler adds workers as its target_capacity is raised.
[[nodiscard]] Object build_cluster(const RayServiceState& state, std::string name, const ConfigHash& config,
                                   bool grows);

struct ClusterUpdate {
  Json patch;          ///< A merge patch; null: the cluster is up to date.
  std::string reason;  ///< "worker groups are added".
};
/// What brings the cluster up to date in place:
///
/// - worker groups that were added at the end;
/// - numbers of replicas, once for each change of them in the RayService, so that the autoscaler and others may change
///   those of the cluster; with the autoscaler only the limits;
/// - everything but `suspend`, scaleStrategy and replicas that the autoscaler set, for a cluster that another operator
///   made;
/// - with one of these, labels and annotations of the RayService that were edited since. Those that it no longer has
///   stay, as others may have set them.
///
/// The patch replaces lists, so the cluster must be as observed.
[[nodiscard]] ClusterUpdate update_cluster(const RayServiceState& state, const Cluster& cluster,
                                           const ConfigHash& config);

}  // namespace tpuslice::rayservice
