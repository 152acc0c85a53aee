// The two reconcilers of slices: they read the stores, the plans are pure.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controllers/runtime/pod_stores.h"
#include "controllers/runtime/reconciler.h"
#include "controllers/runtime/store.h"
#include "controllers/slice/options.h"
#include "controllers/slice/troubles.h"

namespace tpuslice::slice {

// What keys these reconcilers work on; not resources of the API.
inline constexpr ResourceType kAccelerators{"tpuslice.dev", "v1", "Accelerator", "accelerators", false};
inline constexpr ResourceType kSlices{"tpuslice.dev", "v1", "Slice", "slices"};

/// Indexes of the stores that both need. Pods that admission has not marked and nodes without TPUs have no part in
/// them.
[[nodiscard]] std::vector<std::string> pod_index(const PodView& pod);
[[nodiscard]] std::vector<std::string> node_index(const NodeView& node);

[[nodiscard]] std::vector<PodPtr> pods_on_node(const runtime::PodStores& pods, const std::string& node);

/// The keys that a change concerns.
[[nodiscard]] std::vector<ObjectKey> accelerator_of_pod(const runtime::NodeStore& nodes, const PodView& pod);
[[nodiscard]] std::vector<ObjectKey> accelerator_of_node(const NodeView& node);
[[nodiscard]] std::vector<ObjectKey> slice_of_pod(const PodView& pod);
[[nodiscard]] std::vector<ObjectKey> slices_on_node(const runtime::PodStores& pods, const NodeView& node);

/// Thread-safe. The stores, indexed as above, outlive the reconciler. A key is an accelerator.
class PlacementReconciler final : public runtime::Reconciler {
 public:
  PlacementReconciler(runtime::PodStores pods, const runtime::NodeStore& nodes,
                      std::shared_ptr<const Troubles> troubles, Options options = {})
      : pods_(std::move(pods)), nodes_(nodes), troubles_(std::move(troubles)), options_(options) {}

  [[nodiscard]] std::string name() const override { return "slice-placement"; }
  [[nodiscard]] ResourceType resource() const override { return kAccelerators; }
  [[nodiscard]] Result<runtime::Plan> plan(const runtime::ReconcileInput& input) const override;

 private:
  const runtime::PodStores pods_;
  const runtime::NodeStore& nodes_;
  const std::shared_ptr<const Troubles> troubles_;
  const Options options_;
};

/// Likewise. A key is a namespace and a value of the slice label.
class SliceReconciler final : public runtime::Reconciler {
 public:
  SliceReconciler(runtime::PodStores pods, const runtime::NodeStore& nodes, Options options = {})
      : pods_(std::move(pods)), nodes_(nodes), options_(options) {}

  [[nodiscard]] std::string name() const override { return "slice"; }
  [[nodiscard]] ResourceType resource() const override { return kSlices; }
  [[nodiscard]] Result<runtime::Plan> plan(const runtime::ReconcileInput& input) const override;

 private:
  const runtime::PodStores pods_;
  const runtime::NodeStore& nodes_;
  const Options options_;
};

}  // namespace tpuslice::slice
