#include "controllers/raycluster/workers/replicas.h"

#include <algorithm>
#include <set>

#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/labels.h"
#include "tpu/teardown_grace.h"

namespace tpuslice::raycluster {
namespace {

/// The host index of a pod of this group; nothing if its labels have none.
std::optional<int> host_of(const WorkerGroup& group, const PodView& pod) {
  if (group.hosts == 1 && pod.label(kRayHostIndex).empty()) return 0;
  return index_label(pod, kRayHostIndex);
}

/// Why the pod breaks its replica, whatever the other pods are; empty if it does not.
std::string failure_of(const WorkerGroup& group, const PodView& pod) {
  const std::optional<int> host = host_of(group, pod);
  if (!host) return fmt::format("has pod {} without a host index", pod.key.name);
  if (*host >= group.hosts) {
    return fmt::format("has host {} (pod {}), beyond its numOfHosts of {}", *host, pod.key.name, group.hosts);
  }
  if (pod.terminating()) return fmt::format("lost host {} (pod {} is terminating)", *host, pod.key.name);
  if (const std::string terminal = terminal_reason(pod, group.ray_container()); !terminal.empty()) {
    return fmt::format("lost host {} ({})", *host, terminal);
  }
  const auto created_for = pod.annotations.find(tpu::kSliceHosts);
  if (created_for != pod.annotations.end() && created_for->second != std::to_string(group.hosts)) {
    return fmt::format("was created for {} hosts, numOfHosts is {}", created_for->second, group.hosts);
  }
  return {};
}

bool is_lost_host(const WorkerGroup& group, const PodView& pod) {
  if (tpu::is_lost_or_failed(pod)) return true;
  return !pod.terminating() && !terminal_reason(pod, group.ray_container()).empty();
}

void determine_state(const WorkerGroup& group, Replica& replica) {
  replica.lost_host = std::ranges::any_of(replica.pods, [&](const PodPtr& pod) { return is_lost_host(group, *pod); });
  std::set<int> hosts;
  for (const PodPtr& pod : replica.pods) {
    replica.failure = failure_of(group, *pod);
    const std::optional<int> host = host_of(group, *pod);
    if (replica.failure.empty() && !hosts.insert(*host).second) {
      replica.failure = fmt::format("has two pods for host {}", *host);
    }
    if (!replica.failure.empty()) {
      replica.state = ReplicaState::kBroken;
      return;
    }
  }
  std::vector<int> missing;
  for (int host = 0; host < group.hosts; ++host) {
    if (!hosts.contains(host)) missing.push_back(host);
  }
  if (missing.empty()) return;
  const bool started =
      std::ranges::any_of(replica.pods, [](const PodPtr& pod) { return pod->phase != PodPhase::kPending; });
  if (started) {
    replica.state = ReplicaState::kBroken;
    replica.failure = fmt::format("lost host {} (no such pod) of {}", missing.front(), group.hosts);
  } else {
    replica.state = ReplicaState::kForming;
    replica.missing_hosts = std::move(missing);
  }
}

void add_pod(Replica& replica, int attempt, const PodPtr& pod) {
  if (attempt > replica.attempt) {
    replica.attempt = attempt;
    replica.predecessors.insert(replica.predecessors.end(), replica.pods.begin(), replica.pods.end());
    replica.pods.clear();
  }
  (attempt == replica.attempt ? replica.pods : replica.predecessors).push_back(pod);
}

}  // namespace

GroupPods classify(const WorkerGroup& group, const std::vector<NamedWorker>& workers) {
  GroupPods out;
  for (const auto& [pod, named] : workers) {
    const std::optional<int> index = index_label(*pod, kRayReplicaIndex);
    if (!index) {
      out.without_index.push_back(pod);
      continue;
    }
    Replica& replica = out.replicas[*index];
    replica.index = *index;
    add_pod(replica, named ? named->attempt : 0, pod);
  }
  for (auto& [index, replica] : out.replicas) {
    std::ranges::sort(replica.pods, {}, [](const PodPtr& pod) -> const ObjectKey& { return pod->key; });
    determine_state(group, replica);
  }
  return out;
}

}  // namespace tpuslice::raycluster
