// What tests look up in a fleet.
#pragma once

#include <algorithm>
#include <string>

#include "fleet/model.h"

namespace tpuslice::fleet {

/// The first slice of the workload, which it has.
inline const FleetSlice& slice_of(const Fleet& fleet, const std::string& workload) {
  return *std::ranges::find_if(fleet.slices, [&](const FleetSlice& slice) { return slice.workload.name == workload; });
}

inline const Pool& pool_named(const Fleet& fleet, const std::string& name) {
  return *std::ranges::find(fleet.pools, name, &Pool::name);
}

}  // namespace tpuslice::fleet
