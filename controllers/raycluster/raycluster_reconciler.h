// RayClusterReconciler: reads the stores and plans one RayCluster.
#pragma once

#include <vector>

#include "controllers/plan/reconciler.h"
#include "controllers/raycluster/observed.h"
#include "controllers/raycluster/raycluster_options.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/raycluster/rules/spec.h"
#include "controllers/runtime/watch/store.h"

namespace tpuslice::raycluster {

/// Index function: the cluster that may adopt the pod, as "<namespace>/<name>".
[[nodiscard]] std::optional<std::string> orphan_index(const PodView& pod);

/// Thread-safe. The stores outlive the reconciler.
class RayClusterReconciler final : public plan::Reconciler {
 public:
  struct Stores {
    const runtime::ObjectStore& clusters;
    runtime::Index<PodView> pods_by_owner;
    runtime::Index<PodView> orphans;  ///< By orphan_index().
    const runtime::ObjectStore& services;
    runtime::Index<ObjectView> services_by_owner;
    std::vector<const runtime::ObjectStore*> children = {};  ///< One for each type; they may be not synced.
    const runtime::JobStore* cleanup_jobs = nullptr;         ///< May be not synced, or null.
  };

  explicit RayClusterReconciler(Stores stores, Options options = {});

  [[nodiscard]] std::string name() const override { return "raycluster"; }
  [[nodiscard]] ResourceType resource() const override { return kRayClusters; }
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const override;

 private:
  [[nodiscard]] ObservedChildren observe_children(const RayClusterSpec& spec) const;

  const Stores stores_;
  const Options options_;
};

}  // namespace tpuslice::raycluster
