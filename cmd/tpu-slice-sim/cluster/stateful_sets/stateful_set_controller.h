// StatefulSetController: runs the pods of StatefulSets, as kube-controller-manager does.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/types/selector.h"
#include "cmd/tpu-slice-sim/cluster/change_feed.h"
#include "cmd/tpu-slice-sim/cluster/due_keys.h"
#include "cmd/tpu-slice-sim/cluster/owners.h"
#include "cmd/tpu-slice-sim/registry/registry.h"

namespace tpuslice::sim {

/// For all StatefulSets, with the pods and ControllerRevisions they control or may adopt. Syncs a set at once
/// when it, one of its pods, or a pod that it may adopt changed; retries with back-off when a write failed. Not
/// thread-safe.
class StatefulSetController {
 public:
  explicit StatefulSetController(Registry& registry);

  bool step(Instant now);
  /// When the next set is due.
  [[nodiscard]] std::optional<Instant> next_due() const { return queue_.next(); }

 private:
  struct Set {
    std::string uid;
    LabelSelector selector = LabelSelector::nothing();
    int failed_syncs = 0;  ///< Consecutive syncs in which a write failed.
  };

  void observe(const Change& change, Instant now);
  void observe_set(const Change& change, Instant now);
  void observe_pod(const Change& change, Instant now);
  bool sync(const ObjectKey& key, Instant now);
  /// The objects that the set controls, and those in its namespace without a controller owner.
  [[nodiscard]] std::vector<JsonPtr> candidates(const char* resource, const Dependents& index, const ObjectKey& key,
                                                const std::string& uid) const;

  Registry& registry_;
  ChangeFeed feed_;
  std::map<ObjectKey, Set> sets_;
  Dependents pods_;
  Dependents revisions_;
  DueKeys queue_;
};

}  // namespace tpuslice::sim
