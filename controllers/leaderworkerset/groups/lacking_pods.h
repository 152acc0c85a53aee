// Which StatefulSet of a LeaderWorkerSet lacks pods.
#pragma once

#include <optional>

#include "controllers/leaderworkerset/leaderworkerset_state.h"
#include "controllers/plan/refused_pods.h"

namespace tpuslice::leaderworkerset {

/// The leader set if one of its leaders below spec.replicas does not exist, otherwise the first worker set without one
/// of its workers. Nothing if none lacks pods.
[[nodiscard]] std::optional<plan::LackingPods> lacking_pods(const LeaderWorkerSetState& state);

}  // namespace tpuslice::leaderworkerset
