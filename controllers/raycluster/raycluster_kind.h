// The RayCluster kind, as the operator knows it (controllers/kind/kind.h).
#pragma once

#include "controllers/kind/kind.h"
#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::raycluster {

extern const kind::Kind kKind;

/// KubeRay. Source of the Lease's name: ray-operator/main.go.
inline constexpr kind::Upstream kKubeRay{"KubeRay", "ray-operator-leader", kRayClusters};

}  // namespace tpuslice::raycluster
