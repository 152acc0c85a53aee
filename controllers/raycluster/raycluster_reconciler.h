// RayClusterReconciler: reads the stores and plans one RayCluster.
#pragma once

#include "controllers/raycluster/options.h"
#include "controllers/runtime/reconciler.h"
#include "controllers/runtime/store.h"

namespace tpuslice::raycluster {

inline constexpr ResourceType kRayClusters{"ray.io", "v1", "RayCluster", "rayclusters"};

/// Thread-safe. Pods and services must be indexed by runtime::owner_index; the stores outlive the reconciler.
class RayClusterReconciler final : public runtime::Reconciler {
 public:
  RayClusterReconciler(const runtime::ObjectStore& clusters, const runtime::PodStore& pods,
                       const runtime::ObjectStore& services, Options options = {});

  [[nodiscard]] std::string name() const override { return "raycluster"; }
  [[nodiscard]] ResourceType resource() const override { return kRayClusters; }
  [[nodiscard]] Result<runtime::Plan> plan(const runtime::ReconcileInput& input) const override;

 private:
  const runtime::ObjectStore& clusters_;
  const runtime::PodStore& pods_;
  const runtime::ObjectStore& services_;
  const Options options_;
};

}  // namespace tpuslice::raycluster
