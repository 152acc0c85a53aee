// PodDefaults: what the admission plugins of a GKE cluster add to every pod that is created.
#pragma once

#include "api/types/json.h"

namespace tpuslice::sim {

/// The pod, with what it leaves open filled in:
///   - DefaultTolerationSeconds: 300 s of tolerance for nodes that are not ready or unreachable;
///   - ExtendedResourceToleration: a pod that asks for google.com/tpu or nvidia.com/gpu tolerates that taint. GKE does
///     this for the accelerators it taints nodes with, so manifests written for it carry no toleration;
///   - ServiceAccount: the account `default`;
///   - Priority: 0, and the well-known system classes.
[[nodiscard]] Json default_pod(Json pod);

}  // namespace tpuslice::sim
