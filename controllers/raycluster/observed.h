// RayClusterObserved: the observation of one RayCluster, everything that its plan depends on.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/types/views.h"
#include "controllers/plan/reconciler.h"

namespace tpuslice::raycluster {

struct RayClusterObserved {
  Object cluster;
  /// Controlled by `cluster`, by UID; and orphans with its labels (adoption.h).
  std::vector<std::shared_ptr<const PodView>> pods;
  std::vector<std::shared_ptr<const ObjectView>> services;  ///< Of `cluster`, and those of other owners with its names.
  Timestamp now;
  std::optional<plan::Failure> last_failure;
};

}  // namespace tpuslice::raycluster
