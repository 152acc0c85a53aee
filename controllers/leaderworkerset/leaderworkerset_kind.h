// The LeaderWorkerSet kind, as the operator knows it (controllers/kind/kind.h), and its controller, wired into a
// Manager.
#pragma once

#include <string>

#include "controllers/kind/kind.h"
#include "controllers/leaderworkerset/leaderworkerset_options.h"
#include "controllers/runtime/manager.h"

namespace tpuslice::leaderworkerset {

extern const kind::Kind kKind;

/// `namespaces`: those to watch.
runtime::Controller& add_leaderworkerset(runtime::Manager& manager, Options options,
                                         runtime::ControllerOptions controller_options,
                                         const runtime::Namespaces& namespaces = {});

}  // namespace tpuslice::leaderworkerset
