// Names of JobSets and their children: upstream's, except those under tpuslice.dev/.
#pragma once

#include <string_view>

#include "controllers/jobset/rules/spec.h"
#include "tpu/labels.h"

namespace tpuslice::jobset {

/// Labels of Jobs and pods; the last two are annotations.
inline constexpr std::string_view kJobSetName = "jobset.sigs.k8s.io/jobset-name";
inline constexpr std::string_view kJobSetUid = "jobset.sigs.k8s.io/jobset-uid";
inline constexpr std::string_view kReplicatedJobName = "jobset.sigs.k8s.io/replicatedjob-name";
inline constexpr std::string_view kReplicatedJobReplicas = "jobset.sigs.k8s.io/replicatedjob-replicas";
inline constexpr std::string_view kJobIndex = "jobset.sigs.k8s.io/job-index";
inline constexpr std::string_view kJobSetTopologyKey = "alpha.jobset.sigs.k8s.io/exclusive-topology";
inline constexpr std::string_view kJobSetNodeSelector = "alpha.jobset.sigs.k8s.io/node-selector";

/// What our watches of Jobs and volume claims select.
inline constexpr std::string_view kChildSelector = kJobSetName;

/// Label of pods: their priority.
inline constexpr std::string_view kPriority = "jobset.sigs.k8s.io/priority";
/// Annotation of Jobs and pods: status.executionAttempts.
inline constexpr std::string_view kExecutionAttempt = "jobset.sigs.k8s.io/execution-attempt";

// Labels and annotations of Jobs and their pods.
inline constexpr std::string_view kRestartAttempt = "jobset.sigs.k8s.io/restart-attempt";
inline constexpr std::string_view kJobRestartAttempt = "jobset.sigs.k8s.io/job-restart-attempt";
inline constexpr std::string_view kGlobalReplicas = "jobset.sigs.k8s.io/global-replicas";
inline constexpr std::string_view kJobGlobalIndex = "jobset.sigs.k8s.io/job-global-index";
inline constexpr std::string_view kJobKey = "jobset.sigs.k8s.io/job-key";
inline constexpr std::string_view kGroupName = "jobset.sigs.k8s.io/group-name";
inline constexpr std::string_view kGroupReplicas = "jobset.sigs.k8s.io/group-replicas";
inline constexpr std::string_view kJobGroupIndex = "jobset.sigs.k8s.io/job-group-index";
inline constexpr std::string_view kCoordinator = "jobset.sigs.k8s.io/coordinator";

/// Node label and taint of the strategy kJobSetNodeSelector.
inline constexpr std::string_view kNamespacedJob = "alpha.jobset.sigs.k8s.io/namespaced-job";
inline constexpr std::string_view kNoSchedule = "alpha.jobset.sigs.k8s.io/no-schedule";

/// Ours, annotation of a Job that is suspended before its deletion: since when, RFC 3339.
inline constexpr std::string_view kDeletionPendingSince = "tpuslice.dev/deletion-pending-since";

// Types of conditions.
inline constexpr std::string_view kCompleted = "Completed";
inline constexpr std::string_view kFailed = "Failed";
inline constexpr std::string_view kSuspended = "Suspended";
inline constexpr std::string_view kRestarting = "RestartingJobSet";
inline constexpr std::string_view kStartupInProgress = "StartupPolicyInProgress";
inline constexpr std::string_view kStartupCompleted = "StartupPolicyCompleted";
/// Ours: the Job controller has started all Jobs. False: why not, for example what they wait for.
inline constexpr std::string_view kJobsStarted = "tpuslice.dev/JobsStarted";
/// Ours: the headless service serves the pods, or none is needed.
inline constexpr std::string_view kServiceReady = "tpuslice.dev/ServiceReady";

// Reasons of failed actions, which become those of events and conditions.
inline constexpr std::string_view kJobCreationFailed = "JobCreationFailed";
inline constexpr std::string_view kJobUpdateFailed = "JobUpdateFailed";  ///< Ours: of patches and deletes.
inline constexpr std::string_view kServiceCreationFailed = "HeadlessServiceCreationFailed";
inline constexpr std::string_view kClaimCreationFailed = "PVCCreationFailed";

}  // namespace tpuslice::jobset
