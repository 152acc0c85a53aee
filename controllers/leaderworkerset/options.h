// What the LeaderWorkerSet controller may be told.
#pragma once

#include "api/base/clock.h"

namespace tpuslice::leaderworkerset {

struct Options {
  Duration first_backoff =
      std::chrono::seconds(10);  ///< Before the second restart in a row; doubled for each one more.
  Duration max_backoff = std::chrono::minutes(5);
  Duration quiet_after = std::chrono::minutes(10);  ///< A group that ran so long starts over.
  Duration stuck_after = std::chrono::minutes(10);  ///< A group of an earlier revision that is not ready so long.
  int revisions_kept = 10;                          ///< Of those that no group is made from.
};

}  // namespace tpuslice::leaderworkerset
