// The RayCronJob kind, as the operator knows it (controllers/kind/kind.h), and its controller, wired into a Manager.
#pragma once

#include <string>

#include "controllers/kind/kind.h"
#include "controllers/raycronjob/raycronjob_options.h"
#include "controllers/runtime/manager.h"

namespace tpuslice::raycronjob {

extern const kind::Kind kKind;

/// Adds the controller and its watch of RayCronJobs, and the store of RayJobs, only those of `namespaces` (all if
/// empty).
runtime::Controller& add_raycronjob(runtime::Manager& manager, Options options = {},
                                    runtime::ControllerOptions controller_options = {},
                                    const runtime::Namespaces& namespaces = {});

}  // namespace tpuslice::raycronjob
