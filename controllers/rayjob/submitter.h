// The submitter: a container that submits the Ray job and copies its log, of a Job (K8sJobMode) or of the head pod
// (SidecarMode).
#pragma once

#include <optional>
#include <string>

#include "controllers/rayjob/rayjob_state.h"

namespace tpuslice::rayjob {

/// The Job; `cluster`: the RayCluster, with uid. The container 0 of spec.submitterPodTemplate gets our command only if
/// it has none.
///
/// Errors: build_submission()'s; InvalidArgument if there is no container to take the image from.
[[nodiscard]] Result<Object> build_submitter(const RayJobState& state, const Object& cluster);

/// Adds the submitter to the head pod of `cluster`, whose containers are then not restarted.
///
/// Errors: as build_submitter().
[[nodiscard]] Status add_sidecar_submitter(const RayJobState& state, Object& cluster);

/// What became of the submitter.
struct SubmitterState {
  enum class Kind : std::uint8_t {
    kNone,  ///< The mode has none.
    kMissing,
    kActive,
    kSucceeded,
    kAborted,   ///< Its Job has failed, or its container exited with another status than 0.
    kHeadLost,  ///< SidecarMode: there is no head pod, or it has ended.
  };
  Kind kind = Kind::kNone;
  /// kActive: the container that keeps it from running, if there is one. kAborted: "Reason: BackoffLimitExceeded.
  /// Message: ...", and how its container failed. kHeadLost: what is lost.
  std::string problem = {};

  /// False only while the submitter runs. A missing Job is created by decide_submitter().
  [[nodiscard]] bool done() const { return kind != Kind::kActive; }
};
[[nodiscard]] SubmitterState submitter_state(const RayJobState& state);

/// What is done about the Job.
struct SubmitterDecision {
  enum class Kind : std::uint8_t {
    kNone,      ///< Nothing; see `problem`.
    kExists,    ///< It is there: the Ray job runs.
    kCreate,    ///< See `desired`.
    kConflict,  ///< Another object has its name.
    kDelete,
  };
  Kind kind = Kind::kNone;
  Object desired = {};
  Problem problem = {};  ///< Why it does not exist.
  std::optional<Duration> requeue_after = {};
};
/// The Job is created if there is none. The cluster is usable.
[[nodiscard]] SubmitterDecision decide_submitter(const RayJobState& state);

}  // namespace tpuslice::rayjob
