// Adds the slice controller to a Manager.
#pragma once

#include <string>

#include "controllers/runtime/manager.h"
#include "controllers/slice/options.h"

namespace tpuslice::slice {

/// Adds watches of the pods that admission has labelled and of the nodes with TPUs, and the two controllers that read
/// them. Shares the pod watches of controllers that were added before. `controller_options` are those of the controller
/// of single slices.
void add_slices(runtime::Manager& manager, Options options = {}, runtime::ControllerOptions controller_options = {});

}  // namespace tpuslice::slice
