// The end of an attempt by suspension or retry: the states Suspending and Retrying.
#pragma once

#include "controllers/rayjob/rayjob_state.h"

namespace tpuslice::rayjob {

void begin_suspension(Draft& draft);

/// Deletes the cluster, unless it is one that spec.clusterSelector names, and the submitter. The attempt is over when
/// both and all pods of the cluster are gone: the next attempt needs their nodes. Returns whether it is over; nothing
/// of it is then left in the status.
bool tear_down(const RayJobState& state, Draft& draft);

/// Deletes the cluster of the RayJob, unless it is being deleted.
void delete_cluster(const RayJobState& state, std::string_view why, Draft& draft);

}  // namespace tpuslice::rayjob
