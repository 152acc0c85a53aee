// The LeaderWorkerSet controller, put together.
#pragma once

#include <string>

#include "controllers/leaderworkerset/options.h"
#include "controllers/runtime/manager.h"

namespace tpuslice::leaderworkerset {

/// `namespace_name`: watch only this one; empty for all.
runtime::Controller& add_leaderworkerset(runtime::Manager& manager, Options options,
                                         runtime::ControllerOptions controller_options,
                                         const std::string& namespace_name = {});

}  // namespace tpuslice::leaderworkerset
