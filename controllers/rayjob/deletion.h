// Deletion of a RayJob: its finalizer holds it until Ray has stopped the job, or for a limited time.
#pragma once

#include <optional>
#include <string>

#include "controllers/rayjob/rayjob_state.h"

namespace tpuslice::rayjob {

/// What a RayJob that is being deleted does.
struct DeletionDecision {
  enum class Kind : std::uint8_t {
    kNone,      ///< It has no finalizer of ours.
    kStopping,  ///< The finalizer stays while the Ray job is being stopped.
    // The finalizer is removed:
    kNothingToStop,
    kStopped,
    kNotStopped,  ///< The time is over; see `problem`.
  };
  Kind kind = Kind::kNone;
  std::string problem = {};                           ///< Why the Ray job could not be stopped.
  std::optional<plan::WorkloadRequest> request = {};  ///< The request that stops it.
  std::optional<Duration> requeue_after = {};
};

/// Whether its spec is valid does not matter.
[[nodiscard]] DeletionDecision decide_deletion(const RayJobState& state);

}  // namespace tpuslice::rayjob
