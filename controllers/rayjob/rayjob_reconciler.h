// RayJobReconciler: plans a RayJob from the stores and the answers of its dashboard.
#pragma once

#include <string>
#include <vector>

#include "controllers/plan/reconciler.h"
#include "controllers/rayjob/rayjob_options.h"
#include "controllers/rayjob/rules/spec.h"
#include "controllers/runtime/watch/store.h"
#include "controllers/runtime/workload_client.h"

namespace tpuslice::rayjob {

/// Index function: "<namespace>/<cluster>" of the RayCluster of a RayJob's present attempt; nothing once it has
/// finished.
[[nodiscard]] std::optional<std::string> index_cluster(const ObjectView& job);
/// The same; nothing for a RayJob that selects a RayCluster.
[[nodiscard]] std::optional<std::string> index_created_cluster(const ObjectView& job);
/// Index function: "<namespace>/<cluster>" of the RayCluster of a pod.
[[nodiscard]] std::optional<std::string> index_cluster_of_pod(const PodView& pod);
/// The RayJob of a submitter's pod with a container that cannot start or has failed; none for other pods.
[[nodiscard]] std::vector<ObjectKey> rayjob_of_submitter_pod(const PodView& pod);

/// Thread-safe. The stores and the client outlive the reconciler.
class RayJobReconciler final : public plan::Reconciler {
 public:
  struct Stores {
    const runtime::ObjectStore& jobs;
    const runtime::ObjectStore& clusters;
    runtime::Index<PodView> pods_by_cluster;
    const runtime::JobStore& submitters;
    runtime::Index<PodView> pods_by_submitter;  ///< By runtime::owner_uid().
    const runtime::ObjectStore& services;
    const runtime::WorkloadClient& dashboards;
  };

  explicit RayJobReconciler(Stores stores, Options options = {});

  [[nodiscard]] std::string name() const override { return "rayjob"; }
  [[nodiscard]] ResourceType resource() const override { return kRayJobs; }
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const override;

 private:
  const Stores stores_;
  const Options options_;
};

}  // namespace tpuslice::rayjob
