// ScaleUpSimulation: where pending pods would run on the nodes of the cluster, on those that will come, and on those of
// further groups. Pure.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cmd/tpu-slice-sim/cluster/scheduling/affinity.h"
#include "tests/support/autoscaler/node_group.h"

namespace tpuslice::testing {

/// The nodes, and the pods on them.
class ClusterSnapshot {
 public:
  explicit ClusterSnapshot(std::map<std::string, StringMap> namespaces) : namespaces_(std::move(namespaces)) {}

  /// `upcoming`: does not exist yet, or does not accept pods yet.
  void add_node(sim::NodeInfo node, bool upcoming);
  /// The pod is on the node; does nothing if there is no such node.
  void add_pod(sim::PodInfo pod, const std::string& node);
  /// Adds the pod to the first node where it fits, and returns the name of the node.
  std::optional<std::string> place(const sim::PodInfo& pod, bool on_upcoming = true);
  /// The scheduler's message if the pod does not fit on this further node, or empty.
  [[nodiscard]] std::string misfit(const sim::PodInfo& pod, const sim::NodeInfo& node) const;
  /// Nodes that place() has used.
  [[nodiscard]] const std::set<std::string>& placed_on() const { return placed_on_; }

 private:
  [[nodiscard]] sim::AffinityCheck affinity_of(const sim::PodInfo& pod) const;

  std::map<std::string, StringMap> namespaces_;
  std::map<std::string, sim::NodeInfo> nodes_;
  std::set<std::string> upcoming_;
  std::deque<sim::PodInfo> pods_;
  std::set<std::string> placed_on_;
};

/// A group that has no nodes.
struct GroupChoice {
  const NodeGroup* group = nullptr;
  std::string blocked;  ///< Why it may not be scaled up now, or empty.
};

struct PodOutcome {
  std::string group;                   ///< The group scaled up in this loop where the pod fits.
  bool fits = false;                   ///< On a node that exists or will come, or in `group`.
  std::map<std::string, int> reasons;  ///< If it does not fit: number of groups by reason.
};

/// One loop. A group is scaled up from 0 to all of its nodes, whatever the number of pods. Copied to try out several
/// pods together.
class ScaleUpSimulation {
 public:
  /// Groups are tried in this order. They outlive it.
  ScaleUpSimulation(ClusterSnapshot snapshot, std::vector<GroupChoice> groups)
      : snapshot_(std::move(snapshot)), groups_(std::move(groups)) {}

  /// Places the pod, on a further group that is not queued if it fits nowhere else.
  PodOutcome provide(const sim::PodInfo& pod);
  /// Places the pod on a node that exists or will come.
  bool place(const sim::PodInfo& pod) { return snapshot_.place(pod).has_value(); }
  /// Scales up a queued group for these pods, whatever else is free. Returns its name; empty if no group suits them.
  std::string queue(const std::vector<sim::PodInfo>& pods);
  /// Places the pod on nodes that accept pods now.
  bool place_now(const sim::PodInfo& pod) { return snapshot_.place(pod, false).has_value(); }
  /// Names of the groups to scale up.
  [[nodiscard]] const std::set<std::string>& scaled_up() const { return scaled_up_; }
  [[nodiscard]] const ClusterSnapshot& snapshot() const { return snapshot_; }

 private:
  void scale_up(const NodeGroup& group);

  ClusterSnapshot snapshot_;
  std::vector<GroupChoice> groups_;
  std::set<std::string> scaled_up_;
  std::map<std::string, std::string> group_of_;  ///< Of the nodes of scaled_up_.
};

}  // namespace tpuslice::testing
