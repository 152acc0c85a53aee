// The DisaggregatedSet kind, as the operator knows it, and its controller, wired into a Manager.
// DisaggregatedSetRoleScalers are children of it and have no controller of their own.
#pragma once

#include "controllers/kind/kind.h"
#include "controllers/runtime/manager.h"

namespace tpuslice::disaggregatedset {

extern const kind::Kind kKind;

/// Adds the controller and its watches, of `namespaces` (all if empty). The controller of LeaderWorkerSets, which
/// its children are, shares the stores of these and of services.
runtime::Controller& add_disaggregatedset(runtime::Manager& manager, runtime::ControllerOptions controller_options = {},
                                          const runtime::Namespaces& namespaces = {});

}  // namespace tpuslice::disaggregatedset
