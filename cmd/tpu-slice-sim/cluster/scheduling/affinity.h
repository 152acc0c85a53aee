// Affinity: required and preferred pod (anti-)affinity of one pod and all bound pods.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cmd/tpu-slice-sim/cluster/scheduling/scheduling_info.h"

namespace tpuslice::sim {

/// The pods and namespaces of one scheduling decision; borrowed.
struct Placement {
  const std::map<std::string, NodeInfo>& nodes;
  std::vector<const PodInfo*> bound;                   ///< Pods on a node, not finished; terminating ones count.
  const std::map<std::string, StringMap>& namespaces;  ///< Labels by namespace.
};

/// Computed once per pod, then evaluated for every node.
class AffinityCheck {
 public:
  AffinityCheck(const PodInfo& pod, const Placement& placement);

  /// kube-scheduler's message if the pod may not run on the node, or empty.
  [[nodiscard]] std::string misfit(const NodeInfo& node) const;
  /// Sum of the weights of the preferred terms that hold.
  [[nodiscard]] std::int64_t score(const NodeInfo& node) const;

 private:
  /// A topology key and one of its values.
  using Domain = std::pair<std::string, std::string>;

  [[nodiscard]] bool in(const std::set<Domain>& domains, const NodeInfo& node) const;
  void weigh(const PodInfo& pod, const PodInfo& other, const NodeInfo& where, const Placement& placement);

  const PodInfo& pod_;
  bool group_exists_ = false;  ///< Some pod matches every affinity term.
  bool matches_itself_ = false;
  std::set<Domain> attracting_;
  std::set<Domain> repelling_;  ///< Excluded by the pod's own anti-affinity.
  std::set<Domain> defended_;   ///< Excluded by the anti-affinity of bound pods.
  std::map<Domain, std::int64_t> weights_;
};

}  // namespace tpuslice::sim
