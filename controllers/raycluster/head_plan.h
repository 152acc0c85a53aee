// The head of a RayCluster: one pod.
#pragma once

#include "controllers/raycluster/changes.h"
#include "controllers/raycluster/options.h"
#include "controllers/raycluster/pods.h"
#include "controllers/raycluster/spec.h"

namespace tpuslice::raycluster {

/// The head pod that counts: one that may still work before one that does not, the oldest first. Null if there is none.
[[nodiscard]] PodPtr choose_head(const RayClusterSpec& spec, const std::vector<PodPtr>& heads);

/// A dead head is deleted and made anew when it is gone; more than one are reduced to the chosen. Workers are not
/// touched: they reconnect, or fail and are rebuilt themselves.
[[nodiscard]] Changes plan_head(const RayClusterSpec& spec, const std::vector<PodPtr>& heads, const Options& options);

}  // namespace tpuslice::raycluster
