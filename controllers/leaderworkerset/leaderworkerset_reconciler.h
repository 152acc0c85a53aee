// LeaderWorkerSetReconciler: reads the stores and plans one LeaderWorkerSet.
#pragma once

#include <string>
#include <vector>

#include "controllers/leaderworkerset/labels.h"
#include "controllers/leaderworkerset/options.h"
#include "controllers/runtime/reconciler.h"
#include "controllers/runtime/store.h"

namespace tpuslice::leaderworkerset {

/// The LeaderWorkerSet that an object's label tpu::kLwsName names.
template <typename View>
[[nodiscard]] std::vector<ObjectKey> set_of(const View& view) {
  const auto name = view.labels.find(tpu::kLwsName);
  if (name == view.labels.end() || name->second.empty()) return {};
  return {{view.key.namespace_name, name->second}};
}

/// The index of objects by that: "lws/<namespace>/<name>".
template <typename View>
[[nodiscard]] std::vector<std::string> set_index(const View& view) {
  std::vector<std::string> groups;
  for (const ObjectKey& key : set_of(view)) groups.push_back("lws/" + key.to_string());
  return groups;
}

/// Thread-safe. Pods and StatefulSets must be indexed by set_index, revisions by runtime::owner_index; the stores
/// outlive the reconciler.
class LeaderWorkerSetReconciler final : public runtime::Reconciler {
 public:
  struct Stores {
    const runtime::ObjectStore& sets;
    const runtime::StatefulSetStore& stateful_sets;
    const runtime::PodStore& pods;
    const runtime::ObjectStore& revisions;
    const runtime::ServiceStore& services;
    const runtime::NodeStore& nodes;
  };

  explicit LeaderWorkerSetReconciler(Stores stores, Options options = {}) : stores_(stores), options_(options) {}

  [[nodiscard]] std::string name() const override { return "leaderworkerset"; }
  [[nodiscard]] ResourceType resource() const override { return kLeaderWorkerSets; }
  [[nodiscard]] Result<runtime::Plan> plan(const runtime::ReconcileInput& input) const override;

 private:
  const Stores stores_;
  const Options options_;
};

}  // namespace tpuslice::leaderworkerset
