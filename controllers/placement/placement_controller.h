// Adds the controller of placement to a Manager.
#pragma once

#include "controllers/placement/placement_options.h"
#include "controllers/runtime/manager.h"
#include "controllers/slice/slice_controller.h"

namespace tpuslice::placement {

/// Adds the controller that assigns domains to slices, which the controller of single slices (slice_controller.h) then
/// releases. `workers`: number of accelerators that are planned at a time.
void add_placement(runtime::Manager& manager, const slice::SliceStores& stores, const PlacementOptions& options = {},
                   int workers = runtime::ControllerOptions().workers);

}  // namespace tpuslice::placement
