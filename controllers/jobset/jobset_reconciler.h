// JobSetReconciler: plans a JobSet from the stores.
#pragma once

#include <string>
#include <vector>

#include "controllers/jobset/jobset_options.h"
#include "controllers/jobset/priorities.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/plan/reconciler.h"
#include "controllers/runtime/watch/store.h"

namespace tpuslice::jobset {

/// The JobSet of a pod that waits (see plan::is_waiting()); none for other pods.
[[nodiscard]] std::vector<ObjectKey> jobset_of_waiting_pod(const PodView& pod);
/// Index function: the same as "<namespace>/<name>".
[[nodiscard]] std::optional<std::string> jobset_name_of_waiting_pod(const PodView& pod);

/// Index function: the JobSet of a pod with a tpu::teardown_grace(), as "<namespace>/<name>".
[[nodiscard]] std::optional<std::string> jobset_name_of_pod_with_teardown_grace(const PodView& pod);

/// Index function: "" for a PriorityClass of pods that name none.
[[nodiscard]] std::optional<std::string> key_of_default_class(const ObjectView& priority_class);

/// Thread-safe. The stores outlive the reconciler.
class JobSetReconciler final : public plan::Reconciler {
 public:
  struct Stores {
    const runtime::ObjectStore& jobsets;
    runtime::Index<JobView> jobs_by_owner;
    const runtime::ServiceStore& services;
    const runtime::ObjectStore& claims;
    runtime::Index<PodView> waiting_pods;              ///< By jobset_name_of_waiting_pod().
    runtime::Index<PodView> pods_with_teardown_grace;  ///< By jobset_name_of_pod_with_teardown_grace().
    const runtime::ObjectStore& priority_classes;      ///< Optional: until it is synced, priorities are not known.
    runtime::Index<ObjectView> default_classes;        ///< By key_of_default_class().
  };

  explicit JobSetReconciler(Stores stores, Options options = {});

  [[nodiscard]] std::string name() const override { return "jobset"; }
  [[nodiscard]] ResourceType resource() const override { return kJobSets; }
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const override;

 private:
  [[nodiscard]] Priorities priorities_of(const JobSetSpec& spec) const;

  const Stores stores_;
  const Options options_;
};

}  // namespace tpuslice::jobset
