// DisaggregatedSetReconciler: plans a DisaggregatedSet from the stores.
#pragma once

#include <string>

#include "controllers/disaggregatedset/rules/disaggregatedset_labels.h"
#include "controllers/plan/reconciler.h"
#include "controllers/runtime/watch/store.h"

namespace tpuslice::disaggregatedset {

/// Thread-safe. The stores outlive the reconciler.
class DisaggregatedSetReconciler final : public plan::Reconciler {
 public:
  struct Stores {
    const runtime::ObjectStore& sets;
    const runtime::ObjectStore& leader_worker_sets;
    runtime::Index<ObjectView> leader_worker_sets_by_owner;
    const runtime::ObjectStore& scalers;
    runtime::Index<ObjectView> scalers_by_owner;
    const runtime::ServiceStore& services;
    runtime::Index<ServiceView> services_by_owner;
  };

  explicit DisaggregatedSetReconciler(const Stores& stores) : stores_(stores) {}

  [[nodiscard]] std::string name() const override { return "disaggregatedset"; }
  [[nodiscard]] ResourceType resource() const override { return kDisaggregatedSets; }
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const override;

 private:
  const Stores stores_;
};

}  // namespace tpuslice::disaggregatedset
