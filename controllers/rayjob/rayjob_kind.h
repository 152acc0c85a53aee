// The RayJob kind, as the operator knows it (controllers/kind/kind.h), and its controller, wired into a Manager.
#pragma once

#include <string>

#include "controllers/kind/kind.h"
#include "controllers/rayjob/rayjob_reconciler.h"
#include "controllers/runtime/manager.h"

namespace tpuslice::rayjob {

extern const kind::Kind kKind;

/// Adds the controller and its watches: RayJobs, RayClusters and their pods, submitter Jobs and services, only those of
/// `namespaces`. Requests to dashboards are sent with `send`.
runtime::Controller& add_rayjob(runtime::Manager& manager, runtime::SendToWorkload send, Options options = {},
                                runtime::ControllerOptions controller_options = {},
                                const runtime::Namespaces& namespaces = {});

}  // namespace tpuslice::rayjob
