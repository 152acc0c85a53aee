#include "tests/bench/fleet_pages/large_fleet.h"

#include <fmt/format.h>

#include "cmd/tpu-slice-sim/cluster/nodes/node_pools.h"
#include "tpu/identity.h"
#include "tpu/labels.h"
#include "tpu/naming.h"
#include "tpu/placement.h"

namespace tpuslice::bench {
namespace {

constexpr int kHosts = 4;
constexpr int kHostsOfFree = 32;

sim::NodePool pool_of_slice(int slice) {
  return {.name = fmt::format("v6e-4x4-{}", slice),
          .accelerator = "tpu-v6e-slice",
          .topology = "4x4",
          .machine_type = "ct6e-standard-4t",
          .hosts = kHosts,
          .chips_per_host = 4,
          .cpu = "180",
          .memory = "720Gi"};
}

sim::NodePool free_pool(int index, int hosts) {
  return {.name = fmt::format("v5p-4x4x8-{}", index),
          .accelerator = "tpu-v5p-slice",
          .topology = "4x4x8",
          .machine_type = "ct5p-hightpu-4t",
          .hosts = hosts,
          .chips_per_host = 4,
          .cpu = "208",
          .memory = "448Gi"};
}

std::string pod_name(int slice, int host) { return fmt::format("train-{}-worker-0-{}", slice, host); }

/// The variables that admission adds, which are most of a pod.
Json environment(const std::string& workload, int host) {
  std::string names;
  for (int i = 0; i < kHosts; ++i)
    names += fmt::format("{}{}-worker-0-{}.{}", i == 0 ? "" : ",", workload, i, workload);
  return Json::array({{{"name", "TPU_WORKER_ID"}, {"value", std::to_string(host)}},
                      {{"name", "TPU_WORKER_HOSTNAMES"}, {"value", names}},
                      {{"name", "TPU_TOPOLOGY"}, {"value", "4x4"}},
                      {{"name", "TPU_ACCELERATOR_TYPE"}, {"value", "v6e-16"}}});
}

Json make_pod(const LargeFleetOptions& options, int slice, int host) {
  const std::string workload = fmt::format("train-{}", slice);
  tpu::SliceIdentity identity;
  identity.slice_name = workload + "-worker-0";
  identity.owner = namespace_of(slice % options.namespaces) + "/" + workload;
  const std::string key = tpu::slice_key(identity);
  Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}};
  Json& metadata = pod["metadata"];
  metadata["name"] = pod_name(slice, host);
  metadata["labels"] = {{tpu::kSlice, key}, {"jobset.sigs.k8s.io/jobset-name", workload}};
  metadata["annotations"] = {{tpu::kSliceHosts, std::to_string(kHosts)},
                             {tpu::kSliceHost, std::to_string(host)},
                             {tpu::kTopologyKey, tpu::kNodePoolLabel},
                             {tpu::kWorkload, "JobSet.v1alpha2.jobset.x-k8s.io/" + workload}};
  Json& spec = pod["spec"];
  spec["nodeSelector"] = {{tpu::kAcceleratorLabel, "tpu-v6e-slice"}, {tpu::kTopologyLabel, "4x4"}};
  spec["tolerations"].push_back({{"key", tpu::kTpuTaint}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
  tpu::add_slice_affinity(spec["affinity"], key, tpu::kNodePoolLabel);
  Json container = {{"name", "worker"}, {"image", "registry.k8s.io/pause:3.10"}, {"env", environment(workload, host)}};
  container["resources"]["limits"][tpu::kTpuResource] = "4";
  spec["containers"].push_back(std::move(container));
  if (slice >= options.running) {
    spec["schedulingGates"].push_back({{"name", tpu::kSliceGate}});
    return pod;
  }
  const sim::NodePool pool = pool_of_slice(slice);
  spec["nodeSelector"][tpu::kNodePoolLabel] = pool.name;
  spec["nodeName"] = sim::node_name(pool, host);
  return pod;
}

}  // namespace

std::string namespace_of(int index) { return fmt::format("team-{}", index); }

std::vector<std::string> nodes_of(const LargeFleetOptions& options, const std::string& now) {
  std::vector<std::string> nodes;
  const auto add = [&](const sim::NodePool& pool) {
    for (int host = 0; host < pool.hosts; ++host) {
      nodes.push_back(sim::make_node(pool, host, static_cast<int>(nodes.size()), now).dump());
    }
  };
  for (int slice = 0; slice < options.running; ++slice) add(pool_of_slice(slice));
  for (int index = 0; static_cast<int>(nodes.size()) < options.nodes; ++index) {
    add(free_pool(index, std::min(kHostsOfFree, options.nodes - static_cast<int>(nodes.size()))));
  }
  return nodes;
}

std::vector<std::string> pods_of(const LargeFleetOptions& options, int namespace_index) {
  std::vector<std::string> pods;
  for (int slice = namespace_index; slice < options.running + options.waiting; slice += options.namespaces) {
    for (int host = 0; host < kHosts; ++host) pods.push_back(make_pod(options, slice, host).dump());
  }
  return pods;
}

std::vector<ObjectKey> running_pods_of(const LargeFleetOptions& options) {
  std::vector<ObjectKey> pods;
  for (int slice = 0; slice < options.running; ++slice) {
    for (int host = 0; host < kHosts; ++host) {
      pods.push_back({namespace_of(slice % options.namespaces), pod_name(slice, host)});
    }
  }
  return pods;
}

Json ready_status(const std::string& now) {
  Json conditions = Json::array();
  for (const char* type : {"PodScheduled", "Initialized", "ContainersReady", "Ready"}) {
    conditions.push_back({{"type", type}, {"status", "True"}, {"lastTransitionTime", now}});
  }
  const Json container = {{"name", "worker"},
                          {"image", "registry.k8s.io/pause:3.10"},
                          {"imageID", ""},
                          {"ready", true},
                          {"started", true},
                          {"restartCount", 0},
                          {"state", {{"running", {{"startedAt", now}}}}}};
  return {{"phase", "Running"}, {"startTime", now}, {"conditions", conditions}, {"containerStatuses", {container}}};
}

}  // namespace tpuslice::bench
