// The slice controller, wired into a Manager: one reconciler for each accelerator's queue, one for each slice.
#pragma once

#include <string>

#include "controllers/runtime/manager.h"
#include "controllers/slice/options.h"

namespace tpuslice::slice {

/// Adds watches of the pods that admission has marked as TPU pods and of the nodes with TPUs, and the controllers that
/// read them. Pods that the controllers added before watch anyway are not watched again. `controller_options.workers`
/// slices are completed or torn down at a time.
void add_slices(runtime::Manager& manager, Options options = {}, runtime::ControllerOptions controller_options = {});

}  // namespace tpuslice::slice
