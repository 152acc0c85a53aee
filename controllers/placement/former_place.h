// FormerPlace: where a slice was placed before it lost pods.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "controllers/placement/slices.h"

namespace tpuslice::placement {

struct FormerPlace {
  plan::ObjectReference workload;
  /// Empty if the slice was not placed; without a value if one of the lost pods had got no node.
  DomainName domain;
  Timestamp queued_since;  ///< Slice::queued_since
  Timestamp left;          ///< When the latest of its pods was lost, or was deleted.
  std::int32_t priority = 0;
  std::string user;            ///< display_name() of the slice.
  bool was_preempted = false;  ///< Its domain is not kept: another slice gets it.
  bool workload_runs = true;   ///< Its workload creates the lost pods again.
};

/// By slice.
using FormerPlaces = std::map<ObjectKey, FormerPlace>;

}  // namespace tpuslice::placement
