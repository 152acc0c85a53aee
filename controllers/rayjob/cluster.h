// The RayCluster of a RayJob: one for each attempt, or the one that spec.clusterSelector names.
#pragma once

#include <string>

#include "controllers/rayjob/rayjob_state.h"

namespace tpuslice::rayjob {

/// Name of the cluster of the next attempt.
[[nodiscard]] std::string next_cluster_name(const RayJobState& state);
/// Ray's submission id of the next attempt: spec.jobId, or a derived one. Empty in InteractiveMode.
[[nodiscard]] std::string next_job_id(const RayJobState& state);

/// Errors: those of the submitter in SidecarMode.
[[nodiscard]] Result<Object> build_cluster(const RayJobState& state);

/// Creates the cluster if there is none, and sets Draft::cluster and the cluster's status. True if all of its pods are
/// ready, or were once.
bool ensure_cluster(const RayJobState& state, Draft& draft);
/// Sets Draft::cluster and the cluster's status while the job runs. An event says that workers are lost.
void follow_cluster(const RayJobState& state, Draft& draft);

/// What a cluster that is not ready waits for, from its status.
[[nodiscard]] std::string describe_wait(const Object& cluster);

}  // namespace tpuslice::rayjob
