// The reconciler of pods without TPUs on lost nodes (lost_pods.h).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controllers/plan/reconciler.h"
#include "controllers/runtime/watch/pod_stores.h"
#include "controllers/runtime/watch/store.h"
#include "controllers/slice/node_health.h"
#include "controllers/slice/slice_options.h"
#include "controllers/slice/teardown_rate.h"
#include "controllers/slice/workloads.h"

namespace tpuslice::slice {

/// Index function: the node of a pod that may_be_lost().
[[nodiscard]] std::optional<std::string> node_of_lost_pod(const PodView& pod);

/// Thread-safe. The stores outlive the reconciler. A key is that of a pod.
class LostPodReconciler final : public plan::Reconciler {
 public:
  LostPodReconciler(runtime::PodStores pods, const runtime::NodeStore& nodes,
                    std::shared_ptr<const NodeHealth> node_health, Options options)
      : pods_(std::move(pods)),
        nodes_(nodes),
        node_health_(std::move(node_health)),
        options_(options),
        rate_(std::make_unique<TeardownRate>(options)) {}

  [[nodiscard]] std::string name() const override { return "slice-lost-pods"; }
  [[nodiscard]] ResourceType resource() const override { return kPods; }
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const override;

 private:
  const runtime::PodStores pods_;
  const runtime::NodeStore& nodes_;
  const std::shared_ptr<const NodeHealth> node_health_;
  const Options options_;
  const std::unique_ptr<TeardownRate> rate_;
};

/// The keys that depend on a pod: its own, if it may_be_lost() and a workload that the operator serves controls it.
[[nodiscard]] std::vector<ObjectKey> lost_pod(const Workloads& workloads, const PodView& pod);

}  // namespace tpuslice::slice
