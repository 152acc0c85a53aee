// The end of an attempt by suspension or retry: the states Suspending and Retrying.
#pragma once

#include <string>
#include <vector>

#include "controllers/rayjob/rayjob_state.h"

namespace tpuslice::rayjob {

/// The cluster is the RayJob's own, and is not being deleted.
[[nodiscard]] bool can_delete_cluster(const RayJobState& state);

/// The attempt is over when the cluster, all of its pods and the submitter are gone: the next attempt needs their
/// nodes. A cluster that spec.clusterSelector names is kept.
struct TeardownDecision {
  bool delete_cluster = false;
  bool delete_submitter = false;
  std::vector<std::string> remaining;  ///< Names of what is left of the attempt; empty once it is over.
};
[[nodiscard]] TeardownDecision decide_teardown(const RayJobState& state);

}  // namespace tpuslice::rayjob
