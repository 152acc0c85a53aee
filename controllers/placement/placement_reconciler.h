// The reconciler of placement, with one key for each accelerator (placement_plan.h).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controllers/placement/accelerator_caches.h"
#include "controllers/placement/accelerator_indexes.h"
#include "controllers/placement/failure_history.h"
#include "controllers/placement/place_history.h"
#include "controllers/placement/placement_options.h"
#include "controllers/placement/rejection_history.h"
#include "controllers/placement/scale_up/autoscaler_status.h"
#include "controllers/placement/scale_up/provisioning_request.h"
#include "controllers/plan/reconciler.h"
#include "controllers/runtime/watch/pod_stores.h"
#include "controllers/runtime/watch/store.h"
#include "controllers/runtime/write_backoff.h"
#include "controllers/slice/indexes.h"
#include "controllers/slice/removed_hosts.h"
#include "controllers/slice/workloads.h"

namespace tpuslice::placement {

// Key of the reconciler; not a resource of the API server.
inline constexpr ResourceType kAccelerators{"tpuslice.dev", "v1", "Accelerator", "accelerators", false};

/// Histories of earlier changes and writes, in memory, that plans use.
struct PlacementHistories {
  std::shared_ptr<const FailureHistory> failures = std::make_shared<FailureHistory>();
  std::shared_ptr<const PlaceHistory> places = std::make_shared<PlaceHistory>();
  std::shared_ptr<const RejectionHistory> rejections = std::make_shared<RejectionHistory>();
  std::shared_ptr<const slice::RemovedHostHistory> removed_hosts = std::make_shared<slice::RemovedHostHistory>();
  std::shared_ptr<const runtime::WriteBackoff> writes = std::make_shared<runtime::WriteBackoff>();
};

/// What is read of the cluster autoscaler; what is not used is null.
struct AutoscalerStores {
  const ConfigMapStore* status = nullptr;
  std::optional<runtime::Index<ProvisioningRequestView>> requests = {};  ///< By accelerator, as the next.
  std::optional<runtime::Index<MetadataView>> templates = {};
};
/// The store of the preemption ConfigMap; a null pointer if preemption is off.
using PreemptionStore = runtime::Store<PreemptionRecords>;
/// Index functions of the last two of AutoscalerStores.
[[nodiscard]] std::optional<std::string> request_accelerator(const ProvisioningRequestView& request);
[[nodiscard]] std::optional<std::string> template_accelerator(const MetadataView& pod_template);

/// The keys that depend on a pod, a node or the records of preemptions.
[[nodiscard]] std::vector<ObjectKey> accelerator_of_pod(const runtime::NodeStore& nodes, const PodView& pod);
[[nodiscard]] std::vector<ObjectKey> accelerator_of_node(const NodeView& node);
[[nodiscard]] std::vector<ObjectKey> accelerators_of_records(const PreemptionRecords& records);

/// Thread-safe. The stores outlive the reconciler. A key is an accelerator.
class PlacementReconciler final : public plan::Reconciler {
 public:
  PlacementReconciler(const runtime::PodStores& pods, runtime::NodeStore& nodes, slice::Indexes indexes,
                      std::shared_ptr<const slice::Workloads> workloads, PlacementHistories histories,
                      AutoscalerStores autoscaler, PlacementOptions options = {},
                      const PreemptionStore* preemptions = nullptr)
      : by_accelerator_(pods, nodes),
        workloads_(std::move(workloads)),
        histories_(std::move(histories)),
        autoscaler_(autoscaler),
        preemptions_(preemptions),
        options_(std::move(options)),
        caches_(std::make_unique<AcceleratorCaches>(pods, nodes, std::move(indexes), options_)) {}

  [[nodiscard]] std::string name() const override { return "slice-placement"; }
  [[nodiscard]] ResourceType resource() const override { return kAccelerators; }
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const override;

 private:
  [[nodiscard]] std::vector<PodPtr> scouts(const std::string& accelerator) const;

  /// The places that were left within options_.keep_domain.
  [[nodiscard]] FormerPlaces recent_places(const FormerPlaces& places, Timestamp now) const;

  const AcceleratorIndexes by_accelerator_;
  const std::shared_ptr<const slice::Workloads> workloads_;
  const PlacementHistories histories_;
  const AutoscalerStores autoscaler_;
  const PreemptionStore* const preemptions_;
  const PlacementOptions options_;
  const std::unique_ptr<AcceleratorCaches> caches_;
};

}  // namespace tpuslice::placement
