// The two reconcilers of slices: one per accelerator (placement_plan.h), one per slice (slice_plan.h).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controllers/plan/reconciler.h"
#include "controllers/runtime/pod_stores.h"
#include "controllers/runtime/store.h"
#include "controllers/slice/failure_history.h"
#include "controllers/slice/node_health.h"
#include "controllers/slice/options.h"

namespace tpuslice::slice {

// Keys of the reconcilers; not resources of the API server.
inline constexpr ResourceType kAccelerators{"tpuslice.dev", "v1", "Accelerator", "accelerators", false};
inline constexpr ResourceType kSlices{"tpuslice.dev", "v1", "Slice", "slices"};

/// Indexes that both reconcilers read. They skip pods without the slice label and nodes without TPUs.
struct Indexes {
  runtime::PodIndex pods_by_accelerator;        ///< TPU pods, by the accelerator of their node selector.
  runtime::PodIndex gated_pods_by_accelerator;  ///< Those that are gated.
  runtime::PodIndex bound_pods_without_tpus;    ///< All under the key "".
  runtime::PodIndex pods_by_node;
  runtime::PodIndex pods_by_slice;  ///< "<namespace>/<slice key>"
  runtime::Index<NodeView> nodes_by_accelerator;

  Indexes(const runtime::PodStores& pods, runtime::NodeStore& nodes);
};

/// The keys that depend on a pod or a node.
[[nodiscard]] std::vector<ObjectKey> accelerator_of_pod(const runtime::NodeStore& nodes, const PodView& pod);
[[nodiscard]] std::vector<ObjectKey> accelerator_of_node(const NodeView& node);
[[nodiscard]] std::vector<ObjectKey> slice_of_pod(const PodView& pod);
[[nodiscard]] std::vector<ObjectKey> slices_on_node(const Indexes& indexes, const NodeView& node);

/// Thread-safe. The stores outlive the reconciler. A key is an accelerator.
class PlacementReconciler final : public plan::Reconciler {
 public:
  PlacementReconciler(Indexes indexes, std::shared_ptr<const FailureHistory> failure_history, Options options = {})
      : indexes_(std::move(indexes)), failure_history_(std::move(failure_history)), options_(options) {}

  [[nodiscard]] std::string name() const override { return "slice-placement"; }
  [[nodiscard]] ResourceType resource() const override { return kAccelerators; }
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const override;

 private:
  const Indexes indexes_;
  const std::shared_ptr<const FailureHistory> failure_history_;
  const Options options_;
};

/// Thread-safe. The stores outlive the reconciler. A key is a namespace and a value of the slice label.
class SliceReconciler final : public plan::Reconciler {
 public:
  SliceReconciler(Indexes indexes, const runtime::NodeStore& nodes, std::shared_ptr<const NodeHealth> node_health,
                  Options options = {})
      : indexes_(std::move(indexes)), nodes_(nodes), node_health_(std::move(node_health)), options_(options) {}

  [[nodiscard]] std::string name() const override { return "slice"; }
  [[nodiscard]] ResourceType resource() const override { return kSlices; }
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const override;

 private:
  const Indexes indexes_;
  const runtime::NodeStore& nodes_;
  const std::shared_ptr<const NodeHealth> node_health_;
  const Options options_;
};

}  // namespace tpuslice::slice
