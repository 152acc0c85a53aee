// Cluster: the pods and nodes of a fleet, with the parts of Kubernetes that change them: the API server,
// kube-scheduler, kubelets, and the controllers of the jobs. All of them act at once, so that only the operator's
// decisions take time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "controllers/placement/preemption_budget.h"
#include "controllers/plan/plan.h"
#include "tests/bench/fleet/ours/histories.h"
#include "tests/bench/fleet/policy.h"

namespace tpuslice::fleet_bench {

/// A slice of a job.
using SliceRef = std::pair<int, int>;

/// What has changed since the last look.
struct ClusterChanges {
  std::set<NodeId> nodes;
  std::set<SliceRef> slices;
};

class Cluster {
 public:
  Cluster(FleetRun& run, const slice::Options& options);

  // Events of the simulation.
  void create_pods(int job);
  /// All pods of the job have succeeded, and are collected.
  void collect_pods(int job);
  /// The pod of the host ends.
  void end_host(const HostRef& host, HostEnd how);
  /// The state of the node in the FleetRun has changed.
  void update_node(NodeId id);

  // What the parts of Kubernetes do now; true if they did anything.
  /// Kubelets: pods whose grace period has ended are gone.
  bool remove_terminated_pods();
  /// kube-scheduler: released pods get the node that they name.
  bool bind_pods();
  /// Controllers of jobs: one that lost a pod deletes the others, and creates them again when all are gone.
  bool restart_jobs();
  /// The API server. Errors: Conflict, NotFound.
  Status apply(const plan::Action& action);
  /// When remove_terminated_pods() has more to do.
  [[nodiscard]] std::optional<Timestamp> next_termination() const;

  // What the operator observes.
  [[nodiscard]] std::vector<PodPtr> pods_of(const SliceRef& slice) const;
  [[nodiscard]] std::vector<PodPtr> pods_on(NodeId id) const;
  [[nodiscard]] const NodePtr& node(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  /// Nodes of the slice's pods, by name.
  [[nodiscard]] std::map<std::string, NodePtr> nodes_of(const SliceRef& slice) const;
  [[nodiscard]] const Histories& histories() const { return histories_; }
  [[nodiscard]] const std::shared_ptr<const placement::PreemptionRecords>& preemption_records() const {
    return preemption_records_;
  }
  /// The workload of the slice has not ended.
  [[nodiscard]] bool workload_runs(const ObjectKey& slice) const;
  /// For the cache of placement.
  [[nodiscard]] ClusterChanges take_changes() { return std::exchange(changes_, {}); }
  /// Slices with started pods that have changed since the last call, or whose nodes have.
  [[nodiscard]] std::set<SliceRef> take_started_slices() { return std::exchange(started_slices_, {}); }
  /// Pods or nodes have come, gone or ended since the last call.
  [[nodiscard]] bool take_placement_due() { return std::exchange(placement_due_, false); }

 private:
  struct SlicePods {
    std::vector<PodPtr> pods;   ///< By host; null: none.
    std::vector<NodeId> nodes;  ///< By host; -1: none.
  };

  [[nodiscard]] SlicePods& slice_pods(const HostRef& host) { return pods_[host.job][host.slice]; }
  [[nodiscard]] PodPtr& slot(const HostRef& host) { return slice_pods(host).pods[host.host]; }
  /// Replaces the pod of the host; null: it is gone.
  void put(const HostRef& host, PodPtr after);
  template <typename Change>
  void edit(const HostRef& host, Change change);
  void erase(const HostRef& host);
  /// Deletes the pod; `disruption`: reason of its condition DisruptionTarget, or empty.
  void terminate(const HostRef& host, Duration grace, std::string_view disruption);
  void delete_pods(int job);
  [[nodiscard]] std::optional<NodeId> named_node(const PodView& pod) const;
  Status apply_to_pod(const plan::Action& action);
  Status apply_to_records(const plan::Action& action);
  template <typename Function>
  void for_each_host(int job, Function function);

  FleetRun& run_;
  Histories histories_;
  std::vector<NodePtr> nodes_;    ///< Null: it does not exist.
  std::vector<HostRef> host_on_;  ///< The host whose pod is on the node.
  std::map<std::string, NodeId> node_ids_;
  std::vector<std::vector<SlicePods>> pods_;          ///< By job and slice; empty unless pods exist.
  std::vector<int> pod_counts_;                       ///< By job.
  std::unordered_map<std::string, HostRef> by_name_;  ///< Pods by name.
  std::map<ObjectKey, int> jobs_by_slice_;            ///< Jobs that have not ended, by the keys of their slices.
  std::set<HostRef> without_node_;                    ///< Released pods without a node.
  std::multimap<Timestamp, HostRef> terminating_;     ///< By the end of their grace period.
  std::set<int> losing_;                              ///< Jobs that have lost a pod.
  std::set<int> deleted_by_admin_;                    ///< Those of them of which an administrator has deleted one.
  std::shared_ptr<const placement::PreemptionRecords> preemption_records_;
  std::uint64_t version_ = 1;
  ClusterChanges changes_;
  std::set<SliceRef> started_slices_;
  bool placement_due_ = true;
};

template <typename Change>
void Cluster::edit(const HostRef& host, Change change) {
  PodView pod = *slot(host);
  change(pod);
  pod.resource_version = std::to_string(++version_);
  put(host, std::make_shared<const PodView>(std::move(pod)));
}

}  // namespace tpuslice::fleet_bench
