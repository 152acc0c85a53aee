// RayClusterState: what a plan for one RayCluster decides from, derived from one observation.
#pragma once

#include "controllers/plan/plan.h"
#include "controllers/raycluster/observed.h"
#include "controllers/raycluster/observed_pods.h"
#include "controllers/raycluster/rules/spec.h"
#include "controllers/raycluster/suspension.h"

namespace tpuslice::raycluster {

/// Borrows from the observation.
struct RayClusterState {
  explicit RayClusterState(const RayClusterObserved& observed)
      : seen(observed),
        spec(observed.cluster.spec()),
        pods(by_type(observed.pods)),
        phase(
            suspend_phase(spec, array_at(observed.cluster.json(), {"status", "conditions"}), !observed.pods.empty())) {}

  const RayClusterObserved& seen;
  const RayClusterSpec& spec;
  const PodsByType pods;
  SuspendPhase phase;
};

}  // namespace tpuslice::raycluster
