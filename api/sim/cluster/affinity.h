// Affinity: required and preferred pod (anti-)affinity of one pod against all pods that run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/sim/cluster/scheduling_info.h"

namespace tpuslice::sim {

/// What the scheduler knows when it places a pod. Borrowed for one decision.
struct Placement {
  const std::map<std::string, NodeInfo>& nodes;
  std::vector<const PodInfo*> bound;                   ///< Pods on a node, not finished; terminating ones count.
  const std::map<std::string, StringMap>& namespaces;  ///< Labels by namespace.
};

/// Computed once per pod to be placed, then asked for every node.
class AffinityCheck {
 public:
  AffinityCheck(const PodInfo& pod, const Placement& placement);

  /// Why the pod may not be there, in kube-scheduler's words; empty if it may.
  [[nodiscard]] std::string misfit(const NodeInfo& node) const;
  /// Sum of the weights of preferred terms that hold there.
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
  std::set<Domain> repelling_;  ///< By the pod's own anti-affinity.
  std::set<Domain> defended_;   ///< By the anti-affinity of pods that run.
  std::map<Domain, std::int64_t> weights_;
};

}  // namespace tpuslice::sim
