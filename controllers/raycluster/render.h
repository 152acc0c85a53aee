// Renders decisions: actions, events and the status of a plan.
#pragma once

#include "controllers/plan/plan.h"
#include "controllers/raycluster/decisions.h"

namespace tpuslice::raycluster {

/// Stages: a check that the cluster has not changed, before adoptions and before replacements of terminating pods; the
/// finalizer of the cluster; patches of pods; deletes; other children, role bindings, services; creates of all pods;
/// ingresses. Then the status.
[[nodiscard]] plan::Plan render(const RayClusterState& state, const Decisions& decisions);

/// A status that reports `refusal`, and an event if that is new. Of the decisions, only the suspension and deletions of
/// workers.
[[nodiscard]] plan::Plan render_refusal(const RayClusterState& state, const Problem& refusal,
                                        const Decisions& decisions);

}  // namespace tpuslice::raycluster
