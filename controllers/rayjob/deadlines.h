// The deadlines of a RayJob, from the start of the attempt.
#pragma once

#include <optional>

#include "controllers/rayjob/rayjob_state.h"

namespace tpuslice::rayjob {

/// Whether a deadline has passed.
struct DeadlineDecision {
  Problem passed;                         ///< Reason and message of the failure.
  std::optional<Duration> requeue_after;  ///< Until the next deadline passes.
};

/// Decides by spec.activeDeadlineSeconds and, until the Ray job runs, by spec.preRunningDeadlineSeconds.
[[nodiscard]] DeadlineDecision check_deadlines(const RayJobState& state);

}  // namespace tpuslice::rayjob
