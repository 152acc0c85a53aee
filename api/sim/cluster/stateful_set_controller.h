// StatefulSetController: runs the pods of StatefulSets, as kube-controller-manager does.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/sim/cluster/change_feed.h"
#include "api/sim/cluster/due_keys.h"
#include "api/sim/cluster/owners.h"
#include "api/sim/registry.h"
#include "api/types/selector.h"

namespace tpuslice::sim {

/// Every StatefulSet, with the pods and ControllerRevisions it controls and those it may adopt. Looks at one at once
/// when it, a pod of it, or a pod it might adopt has changed; again with growing pauses when a write was refused. Not
/// thread-safe.
class StatefulSetController {
 public:
  explicit StatefulSetController(Registry& registry);

  bool step(Instant now);
  /// When the next set is to be looked at.
  [[nodiscard]] std::optional<Instant> next_due() const { return queue_.next(); }

 private:
  struct Set {
    std::string uid;
    LabelSelector selector = LabelSelector::nothing();
    int refusals = 0;  ///< Looks in a row in which a write was refused.
  };

  void observe(const Change& change, Instant now);
  void observe_set(const Change& change, Instant now);
  void observe_pod(const Change& change, Instant now);
  bool sync(const ObjectKey& key, Instant now);
  /// Those the set controls, and those of its namespace that nothing does.
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
