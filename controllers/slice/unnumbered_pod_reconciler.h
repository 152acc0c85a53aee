// The reconciler of pods of Jobs without slice identity (unnumbered_pods.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "controllers/plan/reconciler.h"
#include "controllers/runtime/watch/pod_stores.h"

namespace tpuslice::slice {

/// Thread-safe. The stores outlive the reconciler. A key is that of a pod.
class UnnumberedPodReconciler final : public plan::Reconciler {
 public:
  explicit UnnumberedPodReconciler(runtime::PodStores pods) : pods_(std::move(pods)) {}

  [[nodiscard]] std::string name() const override { return "slice-unnumbered-pods"; }
  [[nodiscard]] ResourceType resource() const override { return kPods; }
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const override;

 private:
  const runtime::PodStores pods_;
};

/// The keys that depend on a pod: its own, if it is_unnumbered() and has no node. Later changes of the pod send no
/// further events.
[[nodiscard]] std::vector<ObjectKey> unnumbered_pod(const PodView& pod);

}  // namespace tpuslice::slice
