// NodeLifecycle: conditions, taints and evictions for lost nodes.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "cmd/tpu-slice-sim/cluster/change_feed.h"
#include "cmd/tpu-slice-sim/registry/registry.h"

namespace tpuslice::sim {

/// Reads the annotation kNodeReadyAnnotation and spec.unschedulable of nodes. Pods of a lost node become Ready=False;
/// those that do not (or no longer) tolerate a NoExecute taint are deleted; on a lost node they stay terminating.
/// Not thread-safe.
class NodeLifecycle {
 public:
  explicit NodeLifecycle(Registry& registry);

  bool step(Instant now);
  [[nodiscard]] std::optional<Instant> next_due() const;

 private:
  void observe(const Change& change, Instant now);
  bool sync_node(const std::string& name);
  bool mark_pods(const std::string& node);
  void plan_evictions(const std::string& node);
  void plan_eviction(const ObjectKey& key, const std::string& node);
  void cancel(const ObjectKey& key);
  bool evict(const ObjectKey& key);

  Registry& registry_;
  ChangeFeed feed_;
  std::set<std::string> dirty_;                      ///< Nodes to check.
  std::map<std::string, std::set<ObjectKey>> pods_;  ///< Live pods by node.
  std::map<ObjectKey, std::string> node_of_;
  std::map<std::pair<std::string, std::string>, Instant> tainted_;  ///< Start of each taint, by node and taint key.
  std::map<ObjectKey, Instant> due_;                                ///< Planned evictions.
  std::set<std::pair<Instant, ObjectKey>> queue_;
};

}  // namespace tpuslice::sim
