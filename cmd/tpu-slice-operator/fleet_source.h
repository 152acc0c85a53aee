// FleetSource: a snapshot of the fleet from the operator's stores.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "controllers/history/history_controller.h"
#include "controllers/placement/placement_reconciler.h"
#include "controllers/runtime/manager.h"
#include "controllers/slice/slice_controller.h"
#include "fleet/snapshot.h"

namespace tpuslice {

/// Thread-safe. The manager, and its stores, outlive it.
class FleetSource {
 public:
  /// After the controllers of placement were added, whose stores it shares. `kinds`: the workload kinds that are
  /// served.
  FleetSource(runtime::Manager& manager, const slice::SliceStores& stores, history::History history,
              placement::PlacementOptions options, std::string topology_key, const std::vector<ResourceType>& kinds,
              const runtime::Namespaces& namespaces);

  /// Errors: Unavailable while the stores are not synced.
  [[nodiscard]] Result<fleet::Snapshot> take() const;
  /// The object of a served kind that owns the workload, or its owner: the RayJob of a RayCluster. The workload itself
  /// without one. A RayJob of a RayCronJob is a run of its own.
  [[nodiscard]] plan::ObjectReference owner_of(const plan::ObjectReference& workload) const;
  /// By time, the oldest first.
  [[nodiscard]] std::vector<fleet::HistoryRecord> history() const;

 private:
  [[nodiscard]] std::vector<fleet::PodPtr> pods() const;
  [[nodiscard]] std::vector<fleet::Workload> workloads() const;

  const runtime::Manager& manager_;
  const runtime::PodStores pods_;
  const runtime::NodeStore& nodes_;
  const history::History history_;
  const placement::PlacementOptions options_;
  const std::string topology_key_;
  std::vector<std::pair<ResourceType, const runtime::ObjectStore*>> workloads_;
  const placement::ConfigMapStore* autoscaler_ = nullptr;
  const runtime::Store<placement::ProvisioningRequestView>* requests_ = nullptr;  ///< Null: they are not used.
  const placement::PreemptionStore* preemptions_ = nullptr;                       ///< The same.
};

}  // namespace tpuslice
