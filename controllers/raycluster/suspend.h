// Suspension: spec.suspend takes all pods away, and gives them back.
//
// What has begun is recorded in conditions, so that it is carried to its end even if spec.suspend is taken back
// meanwhile: RayClusterSuspending is written before the first pod is deleted, RayClusterSuspended after the last is
// gone.
#pragma once

#include "controllers/raycluster/changes.h"
#include "controllers/raycluster/pods.h"
#include "controllers/raycluster/spec.h"

namespace tpuslice::raycluster {

inline constexpr std::string_view kSuspendingCondition = "RayClusterSuspending";
inline constexpr std::string_view kSuspendedCondition = "RayClusterSuspended";

enum class SuspendPhase : std::uint8_t {
  kRunning,    ///< Not suspended; pods are kept as the spec says.
  kBeginning,  ///< To be suspended; nothing but the condition is written yet.
  kDeleting,   ///< Pods are being deleted.
  kEnding,     ///< All pods are gone; that has to be written.
  kSuspended,  ///< Suspended.
};

/// `conditions` are those the cluster's status has.
[[nodiscard]] SuspendPhase suspend_phase(const RayClusterSpec& spec, const Json& conditions, bool has_pods);

/// Deletes all pods.
[[nodiscard]] Changes plan_suspension(const RayClusterSpec& spec, const std::vector<PodPtr>& pods);

}  // namespace tpuslice::raycluster
