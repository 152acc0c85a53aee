// RayServiceReconciler: plans a RayService from the stores and the answers of its clusters.
#pragma once

#include <string>
#include <vector>

#include "controllers/plan/reconciler.h"
#include "controllers/rayservice/gateway_view.h"
#include "controllers/rayservice/observed.h"
#include "controllers/rayservice/rayservice_options.h"
#include "controllers/runtime/watch/store.h"
#include "controllers/runtime/workload_client.h"

namespace tpuslice::rayservice {

/// Thread-safe. Stores and client outlive the reconciler.
class RayServiceReconciler final : public plan::Reconciler {
 public:
  struct Stores {
    const runtime::ObjectStore& rayservices;
    runtime::Index<ObjectView> clusters_by_owner;
    runtime::Index<PodView> pods_by_owner;
    const runtime::ObjectStore& services;
    runtime::Index<ObjectView> services_by_owner;
    const runtime::Store<GatewayView>& gateways;     ///< Optional.
    const runtime::Store<GatewayView>& http_routes;  ///< Optional.
  };

  RayServiceReconciler(Stores stores, const runtime::WorkloadClient& workloads, Options options = {});

  [[nodiscard]] std::string name() const override { return "rayservice"; }
  [[nodiscard]] ResourceType resource() const override;
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const override;

 private:
  [[nodiscard]] ObservedGateways observe_gateways(const RayServiceSpec& spec) const;

  const Stores stores_;
  const runtime::WorkloadClient& workloads_;
  const Options options_;
};

}  // namespace tpuslice::rayservice
