// Histories: what the operator remembers of earlier changes of pods and nodes, recorded as its listeners do
// (controllers/placement/placement_controller.cpp).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "controllers/placement/failure_history.h"
#include "controllers/placement/place_history.h"
#include "controllers/placement/placement_options.h"
#include "controllers/placement/placement_plan.h"
#include "controllers/placement/rejection_history.h"
#include "controllers/runtime/watch/store.h"
#include "controllers/slice/node_health.h"
#include "controllers/slice/slice_plan.h"

namespace tpuslice::fleet_bench {

using slice::NodePtr;
using slice::PodPtr;

class Histories {
 public:
  Histories(const slice::Options& options, Timestamp start) : health_(options, start) {}

  /// A change of a pod, which is on `node` if that is not null.
  void record_pod(const PodPtr& before, const PodPtr& after, const NodePtr& node, Timestamp now);
  /// A change of a node. `pods`: those on it.
  void record_node(const std::vector<PodPtr>& pods, const NodePtr& before, const NodePtr& after, Timestamp now);

  [[nodiscard]] std::shared_ptr<const placement::FormerPlaces> places() const { return places_.places(); }
  /// Sets what a plan of the accelerator depends on. `runs`: whether the workload of the slice has not ended.
  void observe(const placement::PlacementOptions& options, const std::function<bool(const ObjectKey&)>& runs,
               placement::PlacementObserved& seen) const;
  /// The same for the plan of a slice, whose nodes are set.
  void observe(slice::SliceObserved& seen) const;

 private:
  runtime::NodeStore nodes_{kNodes};
  placement::FailureHistory failures_;
  placement::PlaceHistory places_;
  placement::RejectionHistory rejections_;
  slice::NodeHealth health_;
};

}  // namespace tpuslice::fleet_bench
