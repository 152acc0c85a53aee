// targetCapacity, trafficRoutedPercent and lastTrafficMigratedTime in the status of a cluster.
#pragma once

#include "controllers/rayservice/decisions.h"

namespace tpuslice::rayservice {

/// Updates them in `status`, activeServiceStatus or pendingServiceStatus as it was, of choice.active or choice.pending.
/// The capacity is what the cluster has accepted, the traffic what the live route has. Without an incremental upgrade
/// they are removed. `pending`: the cluster is choice.pending.
void put_share(const RayServiceState& state, const RunningDecisions& decisions, bool pending, Json& status);

}  // namespace tpuslice::rayservice
