// RayCronJobReconciler: plans a RayCronJob from the stores.
#pragma once

#include <string>

#include "controllers/plan/reconciler.h"
#include "controllers/raycronjob/raycronjob_options.h"
#include "controllers/raycronjob/rules/raycronjob_labels.h"
#include "controllers/runtime/watch/store.h"

namespace tpuslice::raycronjob {

/// Thread-safe. The stores outlive the reconciler.
class RayCronJobReconciler final : public plan::Reconciler {
 public:
  struct Stores {
    const runtime::ObjectStore& cron_jobs;
    const runtime::ObjectStore& jobs;
  };

  RayCronJobReconciler(Stores stores, Options options) : stores_(stores), options_(options) {}

  [[nodiscard]] std::string name() const override { return "raycronjob"; }
  [[nodiscard]] ResourceType resource() const override { return kRayCronJobs; }
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const override;

 private:
  const Stores stores_;
  const Options options_;
};

}  // namespace tpuslice::raycronjob
