#include "controllers/raycluster/replicas.h"

#include <algorithm>
#include <set>

#include "tpu/labels.h"

namespace tpuslice::raycluster {
namespace {

// The host a pod of this group is, or nothing where its labels do not say.
std::optional<int> host_of(const WorkerGroup& group, const PodView& pod) {
  if (group.hosts == 1 && pod.label(tpu::kRayHostIndex).empty()) return 0;
  return index_label(pod, tpu::kRayHostIndex);
}

// Complaint about a pod by itself, or empty.
std::string fault_of(const WorkerGroup& group, const PodView& pod) {
  const std::optional<int> host = host_of(group, pod);
  if (!host) return fmt::format("has pod {} without a host index", pod.key.name);
  if (*host >= group.hosts) {
    return fmt::format("has host {} (pod {}), beyond its numOfHosts of {}", *host, pod.key.name, group.hosts);
  }
  if (pod.terminating()) return fmt::format("lost host {} (pod {} is terminating)", *host, pod.key.name);
  if (const std::string death = death_of(pod, group.ray_container()); !death.empty()) {
    return fmt::format("lost host {} ({})", *host, death);
  }
  const auto built_for = pod.annotations.find(tpu::kSliceHosts);
  if (built_for != pod.annotations.end() && built_for->second != std::to_string(group.hosts)) {
    return fmt::format("was built for {} hosts, numOfHosts is {}", built_for->second, group.hosts);
  }
  return {};
}

void judge(const WorkerGroup& group, Replica& replica) {
  std::set<int> hosts;
  for (const PodPtr& pod : replica.pods) {
    replica.problem = fault_of(group, *pod);
    const std::optional<int> host = host_of(group, *pod);
    if (replica.problem.empty() && !hosts.insert(*host).second) {
      replica.problem = fmt::format("has two pods for host {}", *host);
    }
    if (!replica.problem.empty()) {
      replica.state = ReplicaState::kBroken;
      return;
    }
  }
  for (int host = 0; host < group.hosts; ++host) {
    if (!hosts.contains(host)) replica.missing.push_back(host);
  }
  if (replica.missing.empty()) return;
  const bool started =
      std::ranges::any_of(replica.pods, [](const PodPtr& pod) { return pod->phase != PodPhase::kPending; });
  replica.state = started ? ReplicaState::kBroken : ReplicaState::kForming;
  if (started) {
    replica.problem = fmt::format("lost host {} (no such pod) of {}", replica.missing.front(), group.hosts);
    replica.missing.clear();
  }
}

}  // namespace

std::vector<PodPtr> Replica::not_terminating() const {
  std::vector<PodPtr> out;
  std::ranges::copy_if(pods, std::back_inserter(out), [](const PodPtr& pod) { return !pod->terminating(); });
  return out;
}

GroupPods sort_into_replicas(const WorkerGroup& group, const std::vector<PodPtr>& pods) {
  GroupPods out;
  for (const PodPtr& pod : pods) {
    const std::optional<int> index = index_label(*pod, tpu::kRayReplicaIndex);
    if (!index) {
      out.unplaced.push_back(pod);
      continue;
    }
    Replica& replica = out.replicas[*index];
    replica.index = *index;
    replica.pods.push_back(pod);
  }
  for (auto& [index, replica] : out.replicas) {
    std::ranges::sort(replica.pods, {}, [](const PodPtr& pod) -> const ObjectKey& { return pod->key; });
    judge(group, replica);
  }
  return out;
}

}  // namespace tpuslice::raycluster
