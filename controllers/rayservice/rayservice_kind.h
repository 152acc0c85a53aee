// The RayService kind, as the operator knows it (controllers/kind/kind.h), and its controller, wired into a Manager.
#pragma once

#include <string>

#include "controllers/kind/kind.h"
#include "controllers/rayservice/rayservice_reconciler.h"
#include "controllers/runtime/manager.h"

namespace tpuslice::rayservice {

extern const kind::Kind kKind;

/// Adds the controller and its watches: RayServices, their RayClusters and services, the pods of Ray clusters, and, if
/// they are served, Gateways and HTTPRoutes; those of `namespaces` only (all if empty). `send` sends the requests to
/// Ray's dashboards.
runtime::Controller& add_rayservice(runtime::Manager& manager, runtime::SendToWorkload send, Options options = {},
                                    runtime::ControllerOptions controller_options = {},
                                    const runtime::Namespaces& namespaces = {});

}  // namespace tpuslice::rayservice
