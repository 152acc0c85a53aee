// The status of a RayCluster: upstream's fields, byte for byte, and conditions of ours.
#pragma once

#include <optional>
#include <string_view>

#include "api/types/conditions.h"
#include "controllers/raycluster/observed.h"
#include "controllers/raycluster/pods.h"
#include "controllers/raycluster/rules/spec.h"
#include "controllers/raycluster/suspend.h"

namespace tpuslice::raycluster {

/// Ours: True while all services exist, are owned by the cluster, and have not drifted.
///
/// Reasons: ServicesReady; ServicesPending, ServiceConflict, FailedService, NotAccepted.
inline constexpr std::string_view kServicesReady = "tpuslice.dev/ServicesReady";

struct StatusInput {
  const RayClusterSpec& spec;
  const RayClusterObserved& seen;
  const PodsByType& pods;
  SuspendPhase phase = SuspendPhase::kRunning;
  Problem refusal;                       ///< For tpuslice.dev/Accepted.
  Problem services;                      ///< For kServicesReady.
  std::optional<Problem> children = {};  ///< For kChildrenReady; absent without such children.
};

/// The whole status. Equal to the cluster's present one unless something but the time changed.
[[nodiscard]] Json build_status(const StatusInput& input);

/// The status of a cluster whose spec is refused: as before, except observedGeneration, conditions of ours, and the
/// progress of a suspension.
[[nodiscard]] Json refused_status(const RayClusterObserved& seen, const Problem& refusal,
                                  SuspendPhase phase = SuspendPhase::kRunning);

/// True if status or message of the condition differ.
[[nodiscard]] bool condition_changed(const Json& before, const Json& after, std::string_view type);

}  // namespace tpuslice::raycluster
