// Replicas of a worker group: the pods that are created and deleted together.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controllers/raycluster/names.h"
#include "controllers/raycluster/observed_pods.h"
#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

/// States of replicas, in the order in which surplus replicas are deleted.
enum class ReplicaState : std::uint8_t {
  kBroken,    ///< It can only be created again as a whole.
  kForming,   ///< Hosts are missing, but none of the others has started: the missing ones can be created.
  kComplete,  ///< Exactly one pod for each host, none of them terminal or terminating.
};

struct Replica {
  int index = 0;
  int attempt = 0;                               ///< The latest that has pods.
  std::vector<PodPtr> pods;                      ///< Pods of that attempt, by name.
  std::vector<PodPtr> predecessors;              ///< Pods of earlier attempts.
  ReplicaState state = ReplicaState::kComplete;  ///< State of `pods`.
  bool lost_host = false;                        ///< A pod was lost or failed, so the others get tpu::teardown_grace().
  std::string failure;             ///< kBroken: follows the name of the replica: "lost host 2 (pod failed: Evicted)".
  std::vector<int> missing_hosts;  ///< kForming.
};

/// A worker pod, and which worker its name says it is; nothing for an adopted pod, which has another name.
struct NamedWorker {
  PodPtr pod;
  std::optional<WorkerIndex> named;
};

struct GroupPods {
  std::map<int, Replica> replicas;
  std::vector<PodPtr> without_index;  ///< Pods whose labels do not say of which replica they are.
};

/// Sorts the workers of `group` into replicas and determines the state of each.
///
/// A replica that lost hosts is completed only while all its pods are Pending: a process that has started may have
/// joined its peers, and a slice cannot take in a new member. The slice controller tears a slice down for the same
/// reason (slice/slice_state.h); without it, and for groups without TPUs, this is the only place that does. The
/// annotation tpuslice.dev/slice-hosts of a pod has the number of hosts it was created for; so a change of numOfHosts
/// breaks every replica, even one with the right hosts.
[[nodiscard]] GroupPods classify(const WorkerGroup& group, const std::vector<NamedWorker>& workers);

}  // namespace tpuslice::raycluster
