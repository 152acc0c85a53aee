// FleetReconciler: plans a Fleet from the stores.
#pragma once

#include <string>
#include <utility>

#include "controllers/plan/reconciler.h"
#include "controllers/runtime/watch/store.h"
#include "tests/example_kind/config_map_view.h"
#include "tests/example_kind/fleet_options.h"
#include "tests/example_kind/rules/fleet_labels.h"

namespace tpuslice::example {

/// Thread-safe. The stores outlive the reconciler.
class FleetReconciler final : public plan::Reconciler {
 public:
  struct Stores {
    const runtime::ObjectStore& fleets;
    runtime::Index<PodView> pods_by_owner;
    const runtime::ServiceStore& services;
    const runtime::Store<ConfigMapView>& config_maps;
  };

  FleetReconciler(Stores stores, Options options) : stores_(std::move(stores)), options_(std::move(options)) {}

  [[nodiscard]] std::string name() const override { return "fleet"; }
  [[nodiscard]] ResourceType resource() const override { return kFleets; }
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const override;

 private:
  const Stores stores_;
  const Options options_;
};

}  // namespace tpuslice::example
