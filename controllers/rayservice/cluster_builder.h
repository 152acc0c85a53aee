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
/// - `suspend`, once for each change of it in the RayService (change_of_suspend()); with its end the tolerations and
///   scheduling gates, which Kueue may have changed meanwhile;
/// - everything but an absent `suspend`, scaleStrategy and replicas that the autoscaler set, for a cluster that another
/// operator
///   made;
/// - with one of these, labels and annotations of the RayService that were edited since. Those that it no longer has
///   stay, as others may have set them.
///
/// The patch replaces lists, so the cluster must be as observed.
[[nodiscard]] ClusterUpdate update_cluster(const RayServiceState& state, const Cluster& cluster,
                                           const ConfigHash& config);

/// Suspends the cluster, or resumes it with the pod templates that it has, and nothing else; without a patch if that
/// has been done.
[[nodiscard]] ClusterUpdate update_suspension(const RayServiceState& state, const Cluster& cluster, bool may_resume);

}  // namespace tpuslice::rayservice
