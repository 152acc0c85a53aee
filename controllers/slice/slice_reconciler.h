// The reconciler of single slices (slice_plan.h).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controllers/plan/reconciler.h"
#include "controllers/runtime/watch/store.h"
#include "controllers/runtime/write_backoff.h"
#include "controllers/slice/indexes.h"
#include "controllers/slice/node_health.h"
#include "controllers/slice/removed_hosts.h"
#include "controllers/slice/slice_options.h"
#include "controllers/slice/teardown_rate.h"
#include "controllers/slice/workloads.h"

namespace tpuslice::slice {

// Key of the reconciler; not a resource of the API server.
inline constexpr ResourceType kSlices{"tpuslice.dev", "v1", "Slice", "slices"};

/// Histories of earlier changes and writes, in memory, that plans use.
struct Histories {
  std::shared_ptr<const RemovedHostHistory> removed_hosts = std::make_shared<RemovedHostHistory>();
  std::shared_ptr<const runtime::WriteBackoff> writes = std::make_shared<runtime::WriteBackoff>();
};

/// The keys that depend on a pod or a node.
[[nodiscard]] std::vector<ObjectKey> slice_of_pod(const PodView& pod);
[[nodiscard]] std::vector<ObjectKey> slices_on_node(const Indexes& indexes, const NodeView& node);

/// Thread-safe. The stores outlive the reconciler. A key is a namespace and a value of the slice label.
class SliceReconciler final : public plan::Reconciler {
 public:
  SliceReconciler(Indexes indexes, const runtime::NodeStore& nodes, std::shared_ptr<const Workloads> workloads,
                  std::shared_ptr<const NodeHealth> node_health, Histories histories, Options options = {})
      : indexes_(std::move(indexes)),
        nodes_(nodes),
        workloads_(std::move(workloads)),
        node_health_(std::move(node_health)),
        histories_(std::move(histories)),
        options_(options),
        teardown_rate_(std::make_unique<TeardownRate>(options)) {}

  [[nodiscard]] std::string name() const override { return "slice"; }
  [[nodiscard]] ResourceType resource() const override { return kSlices; }
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const override;

 private:
  const Indexes indexes_;
  const runtime::NodeStore& nodes_;
  const std::shared_ptr<const Workloads> workloads_;
  const std::shared_ptr<const NodeHealth> node_health_;
  const Histories histories_;
  const Options options_;
  const std::unique_ptr<TeardownRate> teardown_rate_;
};

}  // namespace tpuslice::slice
