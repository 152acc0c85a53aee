// LeaderWorkerSetReconciler: observes one LeaderWorkerSet in the stores and plans it.
#pragma once

#include <string>
#include <vector>

#include "controllers/leaderworkerset/leaderworkerset_options.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "controllers/plan/reconciler.h"
#include "controllers/runtime/watch/store.h"
#include "controllers/runtime/workload_client.h"

namespace tpuslice::leaderworkerset {

/// The LeaderWorkerSet in the label kLwsName.
template <typename View>
[[nodiscard]] std::vector<ObjectKey> set_of(const View& view) {
  const auto name = view.labels.find(kLwsName);
  if (name == view.labels.end() || name->second.empty()) return {};
  return {{view.key.namespace_name, name->second}};
}

/// Index function: set_of() as "<namespace>/<name>".
template <typename View>
[[nodiscard]] std::optional<std::string> set_name(const View& view) {
  const std::vector<ObjectKey> set = set_of(view);
  return set.empty() ? std::nullopt : std::optional(set.front().to_string());
}

/// Thread-safe. The stores outlive the reconciler.
class LeaderWorkerSetReconciler final : public plan::Reconciler {
 public:
  struct Stores {
    const runtime::ObjectStore& sets;
    const runtime::StatefulSetStore& stateful_sets;
    runtime::Index<StatefulSetView> stateful_sets_by_set;
    runtime::Index<PodView> pods_by_set;
    runtime::Index<ObjectView> revisions_by_owner;
    runtime::Index<ObjectView> revisions_by_set;
    const runtime::ServiceStore& services;
    const runtime::NodeStore& nodes;
    const runtime::WorkloadClient& events;  ///< For events about StatefulSets.
  };

  explicit LeaderWorkerSetReconciler(Stores stores, Options options = {}) : stores_(stores), options_(options) {}

  [[nodiscard]] std::string name() const override { return "leaderworkerset"; }
  [[nodiscard]] ResourceType resource() const override { return kLeaderWorkerSets; }
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const override;

 private:
  const Stores stores_;
  const Options options_;
};

}  // namespace tpuslice::leaderworkerset
