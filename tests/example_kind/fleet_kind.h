// The Fleet kind, as the operator knows it (controllers/kind/kind.h), and its controller, wired into a Manager.
#pragma once

#include <string>

#include "controllers/kind/kind.h"
#include "controllers/runtime/manager.h"
#include "tests/example_kind/fleet_options.h"

namespace tpuslice::example {

extern const kind::Kind kKind;

/// Adds the controller and its watches. Only pods and ConfigMaps with the label of a Fleet's children are cached, and
/// only those of `namespaces`.
runtime::Controller& add_fleet(runtime::Manager& manager, Options options = {},
                               runtime::ControllerOptions controller_options = {},
                               const runtime::Namespaces& namespaces = {});

}  // namespace tpuslice::example
