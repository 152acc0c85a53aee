// JobSetReconciler: reads the stores and plans one JobSet.
#pragma once

#include "controllers/jobset/labels.h"
#include "controllers/jobset/options.h"
#include "controllers/runtime/reconciler.h"
#include "controllers/runtime/store.h"

namespace tpuslice::jobset {

/// Thread-safe. Jobs must be indexed by runtime::owner_index; the stores outlive the reconciler.
class JobSetReconciler final : public runtime::Reconciler {
 public:
  struct Stores {
    const runtime::ObjectStore& jobsets;
    const runtime::JobStore& jobs;
    const runtime::ServiceStore& services;
    const runtime::ObjectStore& claims;
  };

  explicit JobSetReconciler(Stores stores, Options options = {});

  [[nodiscard]] std::string name() const override { return "jobset"; }
  [[nodiscard]] ResourceType resource() const override { return kJobSets; }
  [[nodiscard]] Result<runtime::Plan> plan(const runtime::ReconcileInput& input) const override;

 private:
  const Stores stores_;
  const Options options_;
};

}  // namespace tpuslice::jobset
