// The JobSet controller, wired into a Manager.
#pragma once

#include <string>

#include "controllers/jobset/jobset_reconciler.h"
#include "controllers/runtime/manager.h"

namespace tpuslice::jobset {

/// Adds watches of JobSets, their Jobs, services and volume claims, of the pods of slices where those wait to be
/// placed, and the controller that reads them. Only Jobs and claims with the label of a JobSet's children are cached,
/// of all services a few members, and only what is of `namespace_name` (all when empty).
runtime::Controller& add_jobset(runtime::Manager& manager, Options options = {},
                                runtime::ControllerOptions controller_options = {},
                                const std::string& namespace_name = {});

}  // namespace tpuslice::jobset
