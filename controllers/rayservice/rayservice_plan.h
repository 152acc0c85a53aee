// The plan of a RayService. Pure.
#pragma once

#include "controllers/rayservice/observed.h"
#include "controllers/rayservice/rayservice_options.h"

namespace tpuslice::rayservice {

/// Decides (decisions.h) and renders (render.h).
///
/// Stages: finalizer; changes of clusters; new cluster; labels of pods; services; times of deletion; deletions; removal
/// of the finalizer. The status is as observed before these writes, except the names of the clusters.
///
/// Empty for a RayService that spec.managedBy assigns to another controller. While a spec is invalid or has an
/// unsupported field, a condition and a Warning event report it, and the clusters and services of the last valid one
/// stay.
[[nodiscard]] plan::Plan plan_rayservice(const RayServiceObserved& seen, const Options& options);

}  // namespace tpuslice::rayservice
