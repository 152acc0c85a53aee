// Names of the RayJob API, upstream's except those under tpuslice.dev/.
#pragma once

#include <string_view>

namespace tpuslice::rayjob {

/// Selects the Jobs that submit, and their pods.
inline constexpr std::string_view kSubmitterSelector = "ray.io/originated-from-crd=RayJob";
/// Label of the RayCluster: the mode of its attempt.
inline constexpr std::string_view kSubmissionMode = "ray.io/job-submission-mode";
/// Held until the Ray job of a deleted RayJob is stopped.
inline constexpr std::string_view kStopFinalizer = "ray.io/rayjob-finalizer";
/// Container that submits; in SidecarMode one of the head pod.
inline constexpr std::string_view kSubmitterContainer = "ray-job-submitter";

// Values of status.jobDeploymentStatus; empty at first.
inline constexpr std::string_view kInitializing = "Initializing";
inline constexpr std::string_view kWaiting = "Waiting";
inline constexpr std::string_view kRunning = "Running";
inline constexpr std::string_view kComplete = "Complete";
inline constexpr std::string_view kFailed = "Failed";
inline constexpr std::string_view kValidationFailed = "ValidationFailed";
inline constexpr std::string_view kSuspending = "Suspending";
inline constexpr std::string_view kSuspended = "Suspended";
inline constexpr std::string_view kRetrying = "Retrying";
/// No attempt follows.
[[nodiscard]] constexpr bool is_finished(std::string_view state) { return state == kComplete || state == kFailed; }

// Values of status.reason.
inline constexpr std::string_view kSubmissionFailed = "SubmissionFailed";
inline constexpr std::string_view kAppFailed = "AppFailed";
inline constexpr std::string_view kDeadlineExceeded = "DeadlineExceeded";
inline constexpr std::string_view kPreRunningDeadlineExceeded = "PreRunningDeadlineExceeded";
inline constexpr std::string_view kStatusCheckTimeout = "JobStatusCheckTimeoutExceeded";
inline constexpr std::string_view kTransitionGracePeriod = "JobDeploymentStatusTransitionGracePeriodExceeded";
/// Ours: the cluster, or the state of its head, was lost while the job ran.
inline constexpr std::string_view kJobLost = "JobLost";

// Conditions: Complete, Failed and Suspended have the names of the states. Upstream has none.
/// Ours: the RayCluster is ready. False: what it waits for.
inline constexpr std::string_view kClusterReady = "tpuslice.dev/ClusterReady";
/// The reason of that condition while the job runs and the cluster has fewer workers than before.
inline constexpr std::string_view kWorkersLost = "WorkersLost";

// Reasons of failed actions.
inline constexpr std::string_view kFailedRayCluster = "FailedRayCluster";
inline constexpr std::string_view kFailedSubmitter = "FailedSubmitter";
inline constexpr std::string_view kFailedService = "FailedService";
inline constexpr std::string_view kFailedDeleteSelf = "FailedDeleteRayJob";

}  // namespace tpuslice::rayjob
