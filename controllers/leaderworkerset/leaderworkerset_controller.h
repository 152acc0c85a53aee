// Adds the LeaderWorkerSet controller to a manager.
#pragma once

#include <string>

#include "controllers/leaderworkerset/leaderworkerset_options.h"
#include "controllers/runtime/manager.h"

namespace tpuslice::leaderworkerset {

/// `namespace_name`: namespace to watch; empty for all.
runtime::Controller& add_leaderworkerset(runtime::Manager& manager, Options options,
                                         runtime::ControllerOptions controller_options,
                                         const std::string& namespace_name = {});

}  // namespace tpuslice::leaderworkerset
