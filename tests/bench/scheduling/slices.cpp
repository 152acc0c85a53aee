#include "tests/bench/scheduling/slices.h"

#include <cstdint>

#include <fmt/format.h>

#include "api/types/json.h"
#include "cmd/tpu-slice-sim/cluster/nodes/node_pools.h"
#include "tpu/labels.h"
#include "tpu/placement.h"

namespace tpuslice::bench {
namespace {

constexpr const char* kAccelerator = "tpu-v6e-slice";
constexpr const char* kTopology = "4x4";
constexpr int kChips = 4;  ///< Per host.

sim::NodePool make_pool(int index) {
  return {.name = fmt::format("pool-{}", index),
          .accelerator = kAccelerator,
          .topology = kTopology,
          .machine_type = "ct6e-standard-4t",
          .hosts = kHosts,
          .chips_per_host = kChips,
          .cpu = "180",
          .memory = "720Gi"};
}

Json make_pod(Method method, const std::string& namespace_name, int slice, int host) {
  const std::string slice_name = fmt::format("slice-{}", slice);
  tpu::SliceIdentity identity;
  identity.slice_name = slice_name;
  identity.owner = namespace_name + "/bench";
  const std::string key = tpu::slice_key(identity);
  Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}};
  pod["metadata"]["name"] = pod_name(slice, host);
  pod["metadata"]["namespace"] = namespace_name;
  pod["metadata"]["labels"][tpu::kSlice] = key;
  Json& annotations = pod["metadata"]["annotations"];
  annotations[tpu::kSliceHosts] = std::to_string(kHosts);
  annotations[tpu::kSliceHost] = std::to_string(host);
  annotations[tpu::kTopologyKey] = tpu::kNodePoolLabel;
  Json& spec = pod["spec"];
  spec["nodeSelector"][tpu::kAcceleratorLabel] = kAccelerator;
  spec["nodeSelector"][tpu::kTopologyLabel] = kTopology;
  spec["tolerations"].push_back({{"key", tpu::kTpuTaint}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
  if (has_affinity(method)) tpu::add_slice_affinity(spec["affinity"], key, tpu::kNodePoolLabel);
  Json container = {{"name", "worker"}, {"image", "registry.k8s.io/pause:3.10"}};
  container["resources"]["limits"][tpu::kTpuResource] = std::to_string(kChips);
  spec["containers"].push_back(std::move(container));
  return pod;
}

/// The pool of a running slice: they are spread evenly.
int pool_of_running(int slice, int slices, int pools) {
  return static_cast<int>(static_cast<std::int64_t>(slice) * pools / slices);  // The product needs 64 bits.
}

/// Restricts the pod to one node, as the slice controllers do when they remove the gate.
void pin_to_node(Json& pod, const sim::NodePool& pool, int host) {
  pod["spec"]["nodeSelector"][tpu::kNodePoolLabel] = pool.name;
  const Json name = {
      {"key", "metadata.name"}, {"operator", "In"}, {"values", Json::array({sim::node_name(pool, host)})}};
  Json& required = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
  required["nodeSelectorTerms"].push_back({{"matchFields", Json::array({name})}});
}

}  // namespace

std::vector<std::string> make_nodes(int pools, const std::string& now) {
  std::vector<std::string> nodes;
  for (int pool = 0; pool < pools; ++pool) {
    for (int host = 0; host < kHosts; ++host) {
      nodes.push_back(sim::make_node(make_pool(pool), host, pool * kHosts + host, now).dump());
    }
  }
  return nodes;
}

std::vector<std::string> waiting_pods(Method method, const std::string& namespace_name, int slices,
                                      const std::vector<int>& pools) {
  std::vector<std::string> pods;
  for (int slice = 0; slice < slices; ++slice) {
    for (int host = 0; host < kHosts; ++host) {
      Json pod = make_pod(method, namespace_name, slice, host);
      if (is_gated(method)) pod["spec"]["schedulingGates"].push_back({{"name", tpu::kSliceGate}});
      if (is_placed(method)) {
        const sim::NodePool pool = make_pool(pools.at(static_cast<std::size_t>(slice)));
        pin_to_node(pod, pool, host);
        if (method == Method::kBound) pod["spec"]["nodeName"] = sim::node_name(pool, host);
      }
      pods.push_back(pod.dump());
    }
  }
  return pods;
}

std::vector<std::string> running_pods(Method method, const std::string& namespace_name, int slices, int pools) {
  std::vector<std::string> pods;
  for (int slice = 0; slice < slices; ++slice) {
    const sim::NodePool pool = make_pool(pool_of_running(slice, slices, pools));
    for (int host = 0; host < kHosts; ++host) {
      Json pod = make_pod(method, namespace_name, slice, host);
      pod["spec"]["nodeName"] = sim::node_name(pool, host);
      if (method != Method::kAffinity) pod["spec"]["nodeSelector"][tpu::kNodePoolLabel] = pool.name;
      pods.push_back(pod.dump());
    }
  }
  return pods;
}

std::vector<int> free_pools(int slices, int pools) {
  std::vector<int> free;
  int running = 0;
  for (int pool = 0; pool < pools; ++pool) {
    if (running < slices && pool_of_running(running, slices, pools) == pool) {
      ++running;
    } else {
      free.push_back(pool);
    }
  }
  return free;
}

std::string pod_name(int slice, int host) { return fmt::format("slice-{}-{}", slice, host); }

std::string pool_of(const std::string& node) { return node.substr(0, node.rfind('-')); }

}  // namespace tpuslice::bench
