// Types, labels, annotations, conditions and reasons of DisaggregatedSets: upstream's, except those under
// tpuslice.dev/.
#pragma once

#include <string_view>

#include "api/types/resource_type.h"

namespace tpuslice::disaggregatedset {

inline constexpr ResourceType kDisaggregatedSets{"disaggregatedset.x-k8s.io", "v1", "DisaggregatedSet",
                                                 "disaggregatedsets"};
inline constexpr ResourceType kRoleScalers{"disaggregatedset.x-k8s.io", "v1", "DisaggregatedSetRoleScaler",
                                           "disaggregatedsetrolescalers"};

/// Labels of LeaderWorkerSets, their pods and the services. Scalers have the first two.
inline constexpr std::string_view kSetName = "disaggregatedset.x-k8s.io/name";
inline constexpr std::string_view kRole = "disaggregatedset.x-k8s.io/role";
/// Absent on objects of v0.9 and older of upstream, which are those of slice 0.
inline constexpr std::string_view kSlice = "disaggregatedset.x-k8s.io/slice";
inline constexpr std::string_view kRevision = "disaggregatedset.x-k8s.io/revision";
/// "<set>-<slice>-<role>".
inline constexpr std::string_view kApp = "app";

/// Annotation of LeaderWorkerSets of an old revision: their replicas when the rollout began.
inline constexpr std::string_view kInitialReplicas = "disaggregatedset.x-k8s.io/initial-replicas";

// Types and reasons of conditions. Of the first two, one is True.
inline constexpr std::string_view kAvailable = "Available";
inline constexpr std::string_view kAllRolesReady = "AllRolesReady";
inline constexpr std::string_view kProgressing = "Progressing";
inline constexpr std::string_view kRolloutInProgress = "RolloutInProgress";
/// A condition of scalers, and its reason.
inline constexpr std::string_view kReady = "Ready";
inline constexpr std::string_view kBound = "Bound";

// Action::failure_reason, which becomes the reason of tpuslice.dev/ChildrenReady.
inline constexpr std::string_view kFailedLeaderWorkerSet = "FailedLeaderWorkerSet";
inline constexpr std::string_view kFailedRoleScaler = "FailedRoleScaler";
inline constexpr std::string_view kFailedService = "FailedService";

}  // namespace tpuslice::disaggregatedset
