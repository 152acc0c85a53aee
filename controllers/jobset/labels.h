// Names by which JobSets and their children are recognised: upstream's, but for those under tpuslice.dev/.
#pragma once

#include <string_view>

#include "api/types/resource_type.h"
#include "tpu/labels.h"

namespace tpuslice::jobset {

inline constexpr ResourceType kJobSets{"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"};
inline constexpr ResourceType kVolumeClaims{"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"};

/// spec.managedBy of a JobSet that is ours; so is one without.
inline constexpr std::string_view kControllerName = "jobset.sigs.k8s.io/jobset-controller";

/// What our watches of Jobs and volume claims select.
inline constexpr std::string_view kChildSelector = tpu::kJobSetName;

// Labels and annotations of Jobs and their pods; those that tell a slice are in tpu/labels.h.
inline constexpr std::string_view kRestartAttempt = "jobset.sigs.k8s.io/restart-attempt";
inline constexpr std::string_view kJobRestartAttempt = "jobset.sigs.k8s.io/job-restart-attempt";
inline constexpr std::string_view kGlobalReplicas = "jobset.sigs.k8s.io/global-replicas";
inline constexpr std::string_view kJobGlobalIndex = "jobset.sigs.k8s.io/job-global-index";
inline constexpr std::string_view kJobKey = "jobset.sigs.k8s.io/job-key";
inline constexpr std::string_view kGroupName = "jobset.sigs.k8s.io/group-name";
inline constexpr std::string_view kGroupReplicas = "jobset.sigs.k8s.io/group-replicas";
inline constexpr std::string_view kJobGroupIndex = "jobset.sigs.k8s.io/job-group-index";
inline constexpr std::string_view kCoordinator = "jobset.sigs.k8s.io/coordinator";

/// Node label and taint of the strategy tpu::kJobSetNodeSelector.
inline constexpr std::string_view kNamespacedJob = "alpha.jobset.sigs.k8s.io/namespaced-job";
inline constexpr std::string_view kNoSchedule = "alpha.jobset.sigs.k8s.io/no-schedule";

/// Ours, annotation of a JobSet. "FailureTarget": a Job has failed once it is bound to fail, and not only when the last
/// of its pods has ended; and the next Jobs may come while the pods of these end (succession.h).
inline constexpr std::string_view kRestartAt = "tpuslice.dev/restart-at";
/// Ours, annotation of a Job that is going to be deleted: since when, RFC 3339.
inline constexpr std::string_view kEndingSince = "tpuslice.dev/ending-since";

// Types of conditions.
inline constexpr std::string_view kCompleted = "Completed";
inline constexpr std::string_view kFailed = "Failed";
inline constexpr std::string_view kSuspended = "Suspended";
inline constexpr std::string_view kRestarting = "RestartingJobSet";
inline constexpr std::string_view kStartupInProgress = "StartupPolicyInProgress";
inline constexpr std::string_view kStartupCompleted = "StartupPolicyCompleted";
/// Ours; only there, with status False, while the spec is refused: reason InvalidSpec or UnsupportedField.
inline constexpr std::string_view kAccepted = "tpuslice.dev/Accepted";
/// Ours; only there, with status False, while something keeps Jobs from being created or resumed: what it is.
inline constexpr std::string_view kJobsStarted = "tpuslice.dev/JobsStarted";
/// Ours; only there, with status False, while the headless service cannot be had or is not what pods need.
inline constexpr std::string_view kServiceReady = "tpuslice.dev/ServiceReady";

// Reasons of failed actions, which become those of events and conditions.
inline constexpr std::string_view kJobCreationFailed = "JobCreationFailed";
inline constexpr std::string_view kJobUpdateFailed = "JobUpdateFailed";  ///< Ours: of patches and deletes.
inline constexpr std::string_view kServiceCreationFailed = "HeadlessServiceCreationFailed";
inline constexpr std::string_view kClaimCreationFailed = "PVCCreationFailed";

}  // namespace tpuslice::jobset
