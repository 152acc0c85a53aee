// The JobSet kind, as the operator knows it (controllers/kind/kind.h), and its controller, wired into a Manager.
#pragma once

#include <string>

#include "controllers/jobset/jobset_reconciler.h"
#include "controllers/kind/kind.h"
#include "controllers/runtime/manager.h"

namespace tpuslice::jobset {

extern const kind::Kind kKind;

/// Adds the controller and its watches: JobSets, their Jobs, services and volume claims, and the pods of slices. Only
/// Jobs and claims with the label of a JobSet's children are cached, and only those of `namespaces`.
runtime::Controller& add_jobset(runtime::Manager& manager, Options options = {},
                                runtime::ControllerOptions controller_options = {},
                                const runtime::Namespaces& namespaces = {});

}  // namespace tpuslice::jobset
