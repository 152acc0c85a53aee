// What the slice controller may be told.
#pragma once

#include "api/base/clock.h"
#include "controllers/slice/assignment.h"

namespace tpuslice::slice {

struct Options {
  NoCapacity no_capacity = NoCapacity::kWait;
  Duration lost_after = std::chrono::seconds(40);  ///< A node not Ready for so long has lost its pods.
  /// A pod that is being deleted, on such a node, is given up so long after it should have ended.
  Duration given_up_after = std::chrono::minutes(5);
  /// A pod that the scheduler still refuses so long after it was sent to its domain ends its slice.
  Duration bound_within = std::chrono::minutes(2);
  Duration told_after = std::chrono::seconds(5);  ///< Slices younger than this are not told what they wait for.
};

}  // namespace tpuslice::slice
