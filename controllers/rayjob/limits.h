// The limits of a RayJob: the deadlines of an attempt, which count from its start, and the number of attempts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "controllers/rayjob/rayjob_state.h"

namespace tpuslice::rayjob {

/// Whether a deadline has passed.
struct DeadlineDecision {
  Problem passed;                         ///< Reason and message of the failure.
  std::optional<Duration> requeue_after;  ///< Until the next deadline passes.
};

/// Decides by spec.activeDeadlineSeconds and, until the Ray job runs, by spec.preRunningDeadlineSeconds.
[[nodiscard]] DeadlineDecision check_deadlines(const RayJobState& state);

/// Whether a RayJob whose attempt ended without success gets another one. `reason`: of the failure. DeadlineExceeded
/// and JobStatusCheckTimeoutExceeded are not retried.
[[nodiscard]] bool may_retry(const RayJobState& state, std::string_view reason);

/// "it is retried with a new RayCluster, attempt 2 of 3", or why it is not.
[[nodiscard]] std::string describe_retry(const RayJobState& state, std::string_view reason);

}  // namespace tpuslice::rayjob
