// Annotations of LeaderWorkerSets that controller and admission read. Those of its pods are in tpu/labels.h.
#pragma once

#include <string_view>

namespace tpuslice::leaderworkerset {

/// Each group, or each subgroup, has one value of this node label for itself.
inline constexpr std::string_view kExclusiveTopology = "leaderworkerset.sigs.k8s.io/exclusive-topology";
inline constexpr std::string_view kSubgroupExclusiveTopology =
    "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology";
/// With any value: restart policy RecreateGroupOnPodRestart means RecreateGroupAfterStart.
inline constexpr std::string_view kRecreateAfterStart =
    "leaderworkerset.sigs.k8s.io/experimental-recreate-group-after-start";

}  // namespace tpuslice::leaderworkerset
