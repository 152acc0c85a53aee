// Scheduler: binds pods to nodes as kube-scheduler does, one decision at a time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cmd/tpu-slice-sim/cluster/change_feed.h"
#include "cmd/tpu-slice-sim/cluster/scheduling/affinity.h"
#include "cmd/tpu-slice-sim/cluster/scheduling/scheduling_info.h"
#include "cmd/tpu-slice-sim/registry/registry.h"

namespace tpuslice::sim {

struct SchedulerOptions {
  /// Breaks ties between equally good nodes; 0: the first by name.
  std::uint64_t seed = 0;
};

/// Highest priority first, then oldest. A pod that fits nowhere gets the reason in its PodScheduled condition and is
/// tried again when a node or a bound pod changes. Not modelled: preemption, topology spread, volumes, host ports. Not
/// thread-safe.
class Scheduler {
 public:
  Scheduler(Registry& registry, SchedulerOptions options);

  /// Binds all pods that fit now. True if it wrote anything.
  bool step();

 private:
  void observe(const Change& change);
  void observe_pod(const Change& change);
  void observe_node(const Change& change);
  void forget(const ObjectKey& key);
  void count(const PodInfo& pod, bool present);
  [[nodiscard]] Placement placement() const;
  [[nodiscard]] std::vector<const PodInfo*> queue() const;

  /// The node to bind to, or why there is none.
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
  bool due_ = false;  ///< A change may let a pending pod fit.
};

}  // namespace tpuslice::sim
