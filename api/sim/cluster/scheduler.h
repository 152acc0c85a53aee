// Scheduler: binds pods to nodes as kube-scheduler does, one decision at a time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/sim/cluster/affinity.h"
#include "api/sim/cluster/change_feed.h"
#include "api/sim/cluster/scheduling_info.h"
#include "api/sim/registry.h"

namespace tpuslice::sim {

struct SchedulerOptions {
  /// Breaks ties between equally good nodes; 0: the first by name.
  std::uint64_t seed = 0;
};

/// Highest priority first, then oldest. A pod that fits nowhere says why in its PodScheduled condition and is tried
/// again when a node or the set of bound pods changes. Not modelled: preemption, topology spread, volumes, host ports.
/// Not thread-safe.
class Scheduler {
 public:
  Scheduler(Registry& registry, SchedulerOptions options);

  /// Places what can be placed now. True if it wrote anything.
  bool step();

 private:
  void observe(const Change& change);
  void observe_pod(const Change& change);
  void observe_node(const Change& change);
  void forget(const ObjectKey& key);
  void count(const PodInfo& pod, bool present);
  [[nodiscard]] Placement placement() const;
  [[nodiscard]] std::vector<const PodInfo*> queue() const;

  /// The node to bind to, or nothing and why not.
  [[nodiscard]] std::optional<std::string> choose(const PodInfo& pod, std::string& why_not) const;
  bool place(const ObjectKey& key);
  bool bind(const ObjectKey& key, const std::string& uid, const std::string& node);
  bool report(const ObjectKey& key, const std::string& uid, const std::string& reason, const std::string& message);

  Registry& registry_;
  const SchedulerOptions options_;
  ChangeFeed feed_;
  std::map<ObjectKey, PodInfo> pods_;
  std::map<std::string, NodeInfo> nodes_;
  std::map<std::string, StringMap> namespaces_;
  std::uint64_t seen_ = 0;
  bool due_ = false;  ///< Something changed that may let a pending pod run.
};

}  // namespace tpuslice::sim
