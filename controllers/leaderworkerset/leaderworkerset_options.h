// Options of the LeaderWorkerSet controller.
#pragma once

#include "api/base/clock.h"

namespace tpuslice::leaderworkerset {

struct Options {
  /// Before the second restart in a row; doubles with each further.
  Duration first_backoff = std::chrono::seconds(10);
  Duration max_backoff = std::chrono::minutes(5);
  Duration reset_after = std::chrono::minutes(10);  ///< A group that ran this long restarts without back-off again.
  /// A group of an old revision is stuck when not ready for this long.
  Duration stuck_after = std::chrono::minutes(10);
  /// Our webhook mutates the pods. For pods without TPUs its failurePolicy is Ignore, so they may be created unmutated
  /// while it is unavailable; groups with such pods are recreated.
  bool has_webhook = false;
  int revision_history_limit = 10;  ///< Revisions that no group uses.
};

}  // namespace tpuslice::leaderworkerset
