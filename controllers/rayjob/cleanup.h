// What a finished RayJob does: it deletes workers, cluster or itself as its spec says.
#pragma once

#include <optional>

#include "controllers/rayjob/rayjob_state.h"

namespace tpuslice::rayjob {

struct CleanupDecision {
  DeletionPolicy policy = DeletionPolicy::kNone;  ///< Due now.
  std::optional<Duration> requeue_after;          ///< Until the next is due.
};

/// The cleanup of a RayJob that is Complete or Failed: of several policies that are due, the one with the largest
/// impact. The cluster that spec.clusterSelector names is kept.
[[nodiscard]] CleanupDecision decide_cleanup(const RayJobSpec& spec, const RayJobStatus& status, Timestamp now);

void plan_finished(const RayJobState& state, Draft& draft);

}  // namespace tpuslice::rayjob
