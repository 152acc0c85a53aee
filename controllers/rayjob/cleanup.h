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

/// The end of the time in which the Ray job of a RayJob that has Failed is stopped: a job that passed a deadline, or
/// could not be followed, may still run, on a cluster that is kept. nullopt if it has ended.
[[nodiscard]] std::optional<Timestamp> stop_until(const RayJobStatus& status);

/// spec.workerGroupSpecs of the RayJob's own cluster with all groups suspended; null if they are, or without a cluster.
[[nodiscard]] Json suspended_workers(const RayJobState& state);

}  // namespace tpuslice::rayjob
