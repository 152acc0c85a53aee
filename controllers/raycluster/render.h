// The Plan of a RayCluster from what was decided.
#pragma once

#include "controllers/plan/plan.h"
#include "controllers/raycluster/decisions.h"
#include "controllers/raycluster/observed.h"

namespace tpuslice::raycluster {

/// Stages: a check before adoptions; the finalizer of the cluster; patches of pods; deletes; other children, services;
/// creates of all pods. Then the status, and events.
[[nodiscard]] plan::Plan render(const RayClusterSpec& spec, const RayClusterObserved& seen, const PodsByType& pods,
                                const Decisions& decisions);

/// A status that reports `refusal`, and an event if that is new. Of the decisions, only the suspension and deletions of
/// workers.
[[nodiscard]] plan::Plan render_refusal(const RayClusterSpec& spec, const RayClusterObserved& seen,
                                        const Problem& refusal, const Decisions& decisions);

}  // namespace tpuslice::raycluster
