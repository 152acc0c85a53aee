// What the slice controller may be told.
#pragma once

#include "api/base/clock.h"
#include "controllers/slice/assignment.h"

namespace tpuslice::slice {

struct Options {
  NoCapacity no_capacity = NoCapacity::kWait;
  Duration lost_after = std::chrono::seconds(40);  ///< A node not Ready for so long has lost its pods.
  Duration bound_within =
      std::chrono::minutes(2);  ///< A pod that the scheduler refuses where it was sent ends its slice.
  Duration told_after = std::chrono::seconds(10);  ///< Slices younger than this are not told what they wait for.
};

}  // namespace tpuslice::slice
