// KubeRay's metrics of RayServices, which its dashboards and alerts use.
#pragma once

#include <memory>
#include <vector>

#include "api/base/series_writer.h"
#include "api/types/views.h"

namespace tpuslice::rayservice {

/// Writes kuberay_service_info, kuberay_service_condition_ready and kuberay_service_condition_upgrade_in_progress, as
/// the status of each RayService has them.
void write_metrics(const std::vector<std::shared_ptr<const ObjectView>>& services, SeriesWriter& out);

}  // namespace tpuslice::rayservice
