// The status of a RayCluster: upstream's fields, byte for byte, and conditions of ours.
#pragma once

#include <optional>
#include <string_view>

#include "api/types/conditions.h"
#include "controllers/raycluster/raycluster_state.h"

namespace tpuslice::raycluster {

struct StatusInput {
  const RayClusterState& state;
  Problem refusal = {};                  ///< For tpuslice.dev/Accepted.
  Problem services = {};                 ///< For kServicesReady.
  std::optional<Problem> children = {};  ///< For plan::kChildrenReady; absent without such children.
};

/// The whole status. Equal to the cluster's present one unless something but the time changed.
[[nodiscard]] Json build_status(const StatusInput& input);

/// The status of a cluster whose spec is refused: as before, except observedGeneration, conditions of ours, and the
/// progress of a suspension.
[[nodiscard]] Json refused_status(const RayClusterState& state, const Problem& refusal);

/// True if status or message of the condition differ.
[[nodiscard]] bool condition_changed(const Json& before, const Json& after, std::string_view type);

/// Updates the conditions in build_status(): upstream's, and ours. `all_running`: every pod of the spec is running and
/// ready.
void update_conditions(const StatusInput& input, bool all_running, Json& conditions);

/// Updates the conditions in refused_status(): those of ours while the spec is refused, and those of a suspension.
void update_refused(const RayClusterState& state, const Problem& refusal, Json& conditions);

}  // namespace tpuslice::raycluster
