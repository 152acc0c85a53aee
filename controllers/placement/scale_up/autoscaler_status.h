// AutoscalerStatus: whether the cluster has a cluster autoscaler that works. It writes the ConfigMap
// kube-system/cluster-autoscaler-status every few seconds, on GKE, too.
#pragma once

#include <string_view>

#include "controllers/placement/metadata_view.h"
#include "controllers/runtime/watch/store.h"

namespace tpuslice::placement {

inline constexpr std::string_view kAutoscalerNamespace = "kube-system";
inline constexpr std::string_view kAutoscalerConfigMap = "cluster-autoscaler-status";

using ConfigMapStore = runtime::Store<MetadataView>;

/// The ConfigMap exists, and was updated within the last minutes if it says when.
[[nodiscard]] bool has_autoscaler(const ConfigMapStore& config_maps, Timestamp now);

}  // namespace tpuslice::placement
