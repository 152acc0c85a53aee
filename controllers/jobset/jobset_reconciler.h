// JobSetReconciler: reads the stores and plans one JobSet.
#pragma once

#include <string>
#include <vector>

#include "controllers/jobset/labels.h"
#include "controllers/jobset/options.h"
#include "controllers/runtime/pod_stores.h"
#include "controllers/runtime/reconciler.h"
#include "controllers/runtime/store.h"

namespace tpuslice::jobset {

/// Index of pods that wait, as tpu::tell_waiting() tells, by JobSet.
[[nodiscard]] std::vector<std::string> waiting_index(const PodView& pod);
/// The JobSet of such a pod.
[[nodiscard]] std::vector<ObjectKey> jobset_of_waiting(const PodView& pod);

/// Thread-safe. Jobs must be indexed by runtime::owner_index, pods by waiting_index; the stores outlive the reconciler.
class JobSetReconciler final : public runtime::Reconciler {
 public:
  struct Stores {
    const runtime::ObjectStore& jobsets;
    const runtime::JobStore& jobs;
    const runtime::ServiceStore& services;
    const runtime::ObjectStore& claims;
    runtime::PodStores pods;  ///< None where no slice waits.
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
