// The RayCluster of a RayJob: one for each attempt, or the one that spec.clusterSelector names.
#pragma once

#include <optional>
#include <string>

#include "controllers/rayjob/rayjob_state.h"

namespace tpuslice::rayjob {

/// Name of the cluster of the next attempt.
[[nodiscard]] std::string next_cluster_name(const RayJobState& state);
/// Ray's submission id of the next attempt: spec.jobId, or a derived one. Empty in InteractiveMode.
[[nodiscard]] std::string next_job_id(const RayJobState& state);

/// Errors: those of the submitter in SidecarMode.
[[nodiscard]] Result<Object> build_cluster(const RayJobState& state);

/// What is done about the cluster, and why it is not ready.
struct ClusterDecision {
  enum class Kind : std::uint8_t {
    kNone,            ///< Nothing is done.
    kReady,           ///< All of its pods are ready, or were once: the job can begin. SidecarMode: it may have ended.
    kCreate,          ///< See `desired`.
    kConflict,        ///< Another object has its name.
    kNotFound,        ///< There is none that spec.clusterSelector names.
    kLostWorkers,     ///< It had more workers when it was last planned; reported once.
    kSuspendWorkers,  ///< See `workers`.
    kDelete,
  };
  Kind kind = Kind::kNone;
  Object desired = {};
  Json workers = {};               ///< Its spec.workerGroupSpecs.
  Json status = {};                ///< Its status as observed; null without a usable one.
  std::string dashboard_url = {};  ///< Set with kReady.
  Problem problem = {};            ///< Why it is not ready.
  Problem child_problem = {};      ///< Why it does not exist.
  /// What is missing of a cluster that was complete when the job began; empty if nothing.
  std::string lost_workers = {};
  std::optional<Duration> requeue_after = {};
};

/// The cluster of an attempt whose job has not begun. It is created if there is none.
[[nodiscard]] ClusterDecision decide_cluster(const RayJobState& state);
/// The cluster, which is usable, while the job runs.
[[nodiscard]] ClusterDecision follow_cluster(const RayJobState& state);

/// What a cluster that is not ready waits for, from its status.
[[nodiscard]] std::string describe_wait(const Object& cluster);

}  // namespace tpuslice::rayjob
