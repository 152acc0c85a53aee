// RayClusterObserved: all that a plan for one RayCluster depends on.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/types/views.h"
#include "controllers/runtime/reconciler.h"

namespace tpuslice::raycluster {

struct RayClusterObserved {
  Object cluster;
  std::vector<std::shared_ptr<const PodView>> pods;         ///< Whose controller is `cluster`, by UID.
  std::vector<std::shared_ptr<const ObjectView>> services;  ///< Of `cluster`, and whoever else has one of their names.
  Timestamp now;
  std::optional<runtime::Failure> last_failure;
};

}  // namespace tpuslice::raycluster
