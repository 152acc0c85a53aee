// Suspension of RayClusters by rayClusterConfig.suspend, the field that Kueue sets. spec.suspend, which deletes them,
// is in suspension.h.
//
// A cluster is created with the value. A change is applied in place, once, and recorded on the cluster (kSuspend): what
// a queue or a user sets on the RayCluster afterwards stays. False is applied again after other edits of the
// RayService: Kueue suspends the RayCluster itself as well, and a change to true and back may go unseen.
//
// All clusters are suspended, and no other one is made while they are. Only the newest one is resumed, or both of an
// incremental upgrade. If it has another config by then, a new cluster takes its place.
#pragma once

#include <optional>

#include "controllers/rayservice/clusters.h"
#include "controllers/rayservice/rayservice_state.h"

namespace tpuslice::rayservice {

/// The value that the cluster is to get; nothing if it has been applied, or the config has none. An absent value counts
/// as false after true.
[[nodiscard]] std::optional<bool> change_of_suspend(const RayServiceState& state, const Cluster& cluster);

/// Whether the cluster, the newest one, is suspended after this plan.
[[nodiscard]] bool is_suspended(const RayServiceState& state, const Cluster& cluster);

/// The cluster is suspended as the config says, so no other one is made.
[[nodiscard]] bool holds_upgrade(const RayServiceState& state, const Cluster& cluster);

/// The cluster is suspended, and the config resumes it.
[[nodiscard]] bool resumes(const RayServiceState& state, const Cluster& cluster);

/// Value of kSuspend that says that the config is applied; null if it has no `suspend`.
[[nodiscard]] Json suspend_record(const RayServiceState& state);

}  // namespace tpuslice::rayservice
