// KubeRay's metrics of RayClusters, which its dashboards and alerts use.
#pragma once

#include <memory>
#include <vector>

#include "api/base/series_writer.h"
#include "api/types/views.h"

namespace tpuslice::raycluster {

/// Writes kuberay_cluster_info, kuberay_cluster_condition_provisioned and kuberay_cluster_provisioned_duration_seconds,
/// as the status of each cluster has them. KubeRay measures the last when it sets the condition; here it is the time
/// from the creation of the cluster to the last transition of the condition, so it survives a restart.
void write_metrics(const std::vector<std::shared_ptr<const ObjectView>>& clusters, SeriesWriter& out);

}  // namespace tpuslice::raycluster
