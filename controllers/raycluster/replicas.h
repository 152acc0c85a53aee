// Replicas: the pods of a worker group, seen as the units in which they live and die.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/raycluster/pods.h"
#include "controllers/raycluster/spec.h"

namespace tpuslice::raycluster {

enum class ReplicaState : std::uint8_t {
  kBroken,   ///< Cannot work as it is; only rebuilding it whole helps.
  kForming,  ///< Hosts are missing, but none of the others has started: it can be completed.
  kWhole,    ///< Exactly its hosts, once each, none dead or on its way out.
};

struct Replica {
  int index = 0;
  std::vector<PodPtr> pods;  ///< By name.
  ReplicaState state = ReplicaState::kWhole;
  std::string problem;       ///< Of a broken one: "lost host 2 (pod failed: Evicted)".
  std::vector<int> missing;  ///< Hosts that a forming one lacks.

  [[nodiscard]] std::vector<PodPtr> not_terminating() const;
};

struct GroupPods {
  std::map<int, Replica> replicas;
  std::vector<PodPtr> unplaced;  ///< Without a replica index.
};

/// Sorts the pods of `group` into replicas and judges each.
///
/// A replica that lost hosts is completed only while all its pods are Pending: a process that has started may have
/// joined its peers, and a slice cannot take in a new member. The hosts a pod was built for are in its annotation
/// tpuslice.dev/slice-hosts; a change of numOfHosts breaks every replica, also one whose hosts happen to fit.
[[nodiscard]] GroupPods sort_into_replicas(const WorkerGroup& group, const std::vector<PodPtr>& pods);

}  // namespace tpuslice::raycluster
