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
  std::vector<std::shared_ptr<const PodView>> pods;         ///< Controlled by `cluster`, by UID.
  std::vector<std::shared_ptr<const ObjectView>> services;  ///< Of `cluster`, and those of other owners with its names.
  Timestamp now;
  std::optional<plan::Failure> last_failure;
};

}  // namespace tpuslice::raycluster
