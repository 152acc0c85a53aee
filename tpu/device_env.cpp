#include "tpu/device_env.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "tpu/geometry.h"

namespace tpuslice::tpu {
namespace {

constexpr int kFirstMetricsPort = 8431;

/// The same condition as in the device plugin; "tpu7" and the device labels get no geometry.
bool has_geometry(std::string_view label) { return label.ends_with("slice") || label.find("tpu7x") != label.npos; }

/// Slices of whole cubes can route around a failed link. v5e and v6e have no cubes.
bool may_be_resilient(const Accelerator& accelerator, const Topology& topology) {
  const Bounds& bounds = topology.padded();
  return accelerator.rank == 3 &&
         std::all_of(bounds.begin(), bounds.end(), [](auto length) { return length >= kCubeEdge; });
}

std::string metrics_ports(const Accelerator& accelerator, std::int64_t node_chips) {
  const std::int64_t count = accelerator.generation == Generation::kTpu7x ? 2 * node_chips : node_chips;
  std::string ports;
  for (std::int64_t index = 0; index < count; ++index) {
    if (index > 0) ports += ',';
    ports += std::to_string(kFirstMetricsPort + index);
  }
  return ports;
}

Status append_geometry(const DeviceRequest& request, const Accelerator& accelerator, const Topology& topology,
                       std::vector<EnvVar>& env) {
  ASSIGN_OR_RETURN(const Bounds chips, chips_per_host_bounds(request.container_chips));
  ASSIGN_OR_RETURN(const Bounds hosts, host_bounds(topology, request.container_chips));
  const auto add = [&](const char* name, const char* old_name, const std::string& value) {
    env.push_back({name, value, {}});
    env.push_back({old_name, value, {}});
  };
  add("TPU_CHIPS_PER_HOST_BOUNDS", "CHIPS_PER_HOST_BOUNDS", to_string(chips));
  add("TPU_HOST_BOUNDS", "HOST_BOUNDS", to_string(hosts));
  add("TPU_TOPOLOGY_WRAP", "WRAP", topology_wrap(accelerator, topology));
  add("TPU_TOPOLOGY_ALT", "ALT", "false");  // No twisted tori.
  if (may_be_resilient(accelerator, topology)) {
    const bool off = equals_ignoring_case(request.ici_resiliency, "false");
    env.push_back({"ENABLE_ICI_RESILIENCY", off ? "false" : "true", {}});
  }
  return {};
}

}  // namespace

Result<std::vector<EnvVar>> device_env(const DeviceRequest& request) {
  // The number of chips comes from the pod, and the metrics ports list each of them.
  if (const auto node = chips_per_host_bounds(request.node_chips); !node) return node.error();
  ASSIGN_OR_RETURN(const Accelerator* accelerator, find_accelerator(request.accelerator));
  ASSIGN_OR_RETURN(const Topology node, Topology::parse(request.topology));
  const Topology topology = effective_topology(*accelerator, node, request.annotation);
  ASSIGN_OR_RETURN(std::string type, accelerator_type(*accelerator, topology));
  std::vector<EnvVar> env;
  env.push_back({"TPU_TOPOLOGY", topology.to_string(), {}});
  env.push_back({"TPU_ACCELERATOR_TYPE", std::move(type), {}});
  if (has_geometry(request.accelerator)) RETURN_IF_ERROR(append_geometry(request, *accelerator, topology, env));
  env.push_back({"TPU_RUNTIME_METRICS_PORTS", metrics_ports(*accelerator, request.node_chips), {}});
  env.push_back({"TPU_SKIP_MDS_QUERY", "true", {}});
  if (request.node_chips == topology.chips() && accelerator->generation < Generation::kTpu7x) {
    env.push_back({"TPU_WORKER_ID", "0", {}});
    env.push_back({"TPU_WORKER_HOSTNAMES", "localhost", {}});
  }
  return env;
}

}  // namespace tpuslice::tpu
