// Decisions: what a plan for a RayCronJob does, before it is rendered.
#pragma once

#include <optional>

#include "controllers/raycronjob/raycronjob_state.h"

namespace tpuslice::raycronjob {

/// How long a plan waits for the next run at most: a clock that was set forward is noticed then.
inline constexpr Duration kMaxWait = std::chrono::hours(1);

struct Decisions {
  bool create = false;                ///< The RayJob of `recorded` is created.
  std::optional<Timestamp> recorded;  ///< The run that becomes status.lastScheduleTime.
  std::optional<Timestamp> next;      ///< The next run; nothing if there is none, or while it is suspended.
  Problem problem;                    ///< Why no RayJobs are created; no problem if they are.
  std::optional<Duration> requeue_after = {};
  bool keeps_failure = false;  ///< The write that failed last is not tried again yet.
};

/// The run that is due is started unless its RayJob exists; then it is only recorded. RayJobs that were created are not
/// followed: runs may overlap.
[[nodiscard]] Decisions decide(const RayCronJobState& state);

}  // namespace tpuslice::raycronjob
