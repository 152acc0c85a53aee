#include "tests/nodes/recovery/faults.h"

#include <csignal>

#include <fmt/format.h>

#include "tests/nodes/install.h"
#include "tests/nodes/recovery/workloads.h"

namespace tpuslice::bench {
namespace {

using testing::NodeCluster;

Status status_of(const Result<std::string>& output) { return output ? Status() : output.error(); }

Status kill_process(NodeCluster& cluster, const HostPod& victim) {
  return cluster.kill_container({kNamespace, victim.name}, kContainer);
}

Status exhaust_memory(NodeCluster& cluster, const HostPod& victim) {
  return cluster.kill_container({kNamespace, victim.name}, kContainer, SIGUSR1);
}

Status evict(NodeCluster& cluster, const HostPod& victim) {
  const Json eviction = {{"apiVersion", "policy/v1"},
                         {"kind", "Eviction"},
                         {"metadata", {{"namespace", kNamespace}, {"name", victim.name}}}};
  const auto answer = cluster.client().raw({.method = "POST",
                                            .target = kPods.path(kNamespace, victim.name, "eviction"),
                                            .headers = {{"Content-Type", "application/json"}},
                                            .body = eviction.dump()});
  return answer ? Status() : answer.error();
}

Status delete_pod(NodeCluster& cluster, const HostPod& victim) {
  return cluster.client().remove(kPods, {kNamespace, victim.name});
}

/// It does not wait for the pods to end, which is a part of the recovery.
Status drain(NodeCluster& cluster, const HostPod& victim) {
  return status_of(testing::run_kubectl(
      cluster, fmt::format("drain {} --force --ignore-daemonsets --delete-emptydir-data >{}/drain.log 2>&1 &",
                           victim.node, cluster.plane().dir())));
}

Status uncordon(NodeCluster& cluster, const HostPod& victim) {
  return status_of(testing::run_kubectl(cluster, "uncordon " + victim.node));
}

Status lose_node(NodeCluster& cluster, const HostPod& victim) {
  cluster.node(victim.node).kill();
  return {};
}

Status boot_node(NodeCluster& cluster, const HostPod& victim) { return cluster.node(victim.node).boot(); }

}  // namespace

const std::array<Fault, 6>& faults() {
  static const std::array<Fault, 6> kFaults = {
      {{.name = "process-killed", .inject = kill_process},
       {.name = "out-of-memory", .inject = exhaust_memory},
       {.name = "pod-evicted", .inject = evict},
       {.name = "pod-deleted", .inject = delete_pod},
       {.name = "node-drained", .inject = drain, .repair = uncordon},
       {.name = "node-lost", .inject = lose_node, .repair = boot_node, .node_lost = true}}};
  return kFaults;
}

}  // namespace tpuslice::bench
