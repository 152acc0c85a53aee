// Suspension: spec.suspend deletes all pods of a cluster; without it they are created again.
//
// Progress is recorded in conditions, so that a suspension that has begun is completed even if spec.suspend is unset
// meanwhile: RayClusterSuspending is written before the first pod is deleted, RayClusterSuspended after the last.
#pragma once

#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

inline constexpr std::string_view kSuspendingCondition = "RayClusterSuspending";
inline constexpr std::string_view kSuspendedCondition = "RayClusterSuspended";

enum class SuspendPhase : std::uint8_t {
  kRunning,       ///< Not suspended.
  kRequested,     ///< To be suspended: RayClusterSuspending is written, and nothing else.
  kDeletingPods,  ///< RayClusterSuspending is written: pods are deleted.
  kPodsDeleted,   ///< All pods are deleted: RayClusterSuspended is written.
  kSuspended,
};

/// `conditions` are those in the cluster's status.
[[nodiscard]] SuspendPhase suspend_phase(const RayClusterSpec& spec, const Json& conditions, bool has_pods);

}  // namespace tpuslice::raycluster
