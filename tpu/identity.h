// SliceIdentity: which worker of which slice a pod is. Everything else about a TPU pod follows from it.
//
// It comes from what the pod itself says (index labels of its controller, node selector, requests), so every replica of
// the webhook and every controller finds the same, without looking at other pods.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tpu/catalog.h"
#include "tpu/pod_request.h"

namespace tpuslice::tpu {

struct SliceIdentity {
  std::string slice_name;                    ///< TPU_NAME: "<group>-<replica>".
  std::string cluster;                       ///< Name of the workload object.
  std::string group;                         ///< Worker group within it.
  int replica_index = 0;                     ///< Which slice of the group; MEGASCALE_SLICE_ID.
  int host_index = 0;                        ///< Which pod of the slice.
  int hosts = 1;                             ///< Pods in the slice.
  std::string subdomain;                     ///< Headless service that gives the hosts their DNS names.
  const Accelerator* accelerator = nullptr;  ///< Into the catalog; never null.
  Topology topology;
  std::vector<TpuContainer> containers;  ///< Those with chips; at least one.

  [[nodiscard]] bool multi_host() const { return hosts > 1; }
  /// Processes that share one pod: its TPU containers from tpu7x on, else one.
  [[nodiscard]] int processes_per_host() const;
  /// TPU_WORKER_ID of the `container`-th TPU container: host, or host * containers + container where hosts are split.
  [[nodiscard]] int worker_id(std::size_t container) const;
  /// Hostname of a host of this slice, without its subdomain.
  [[nodiscard]] std::string hostname(int host) const;
  /// "<hostname>.<subdomain>": resolves through the namespace's search path.
  [[nodiscard]] std::string address(int host) const;
};

/// The identity of a RayCluster's TPU worker, whether our controller or KubeRay made it: labels ray.io/cluster,
/// ray.io/group, ray.io/worker-group-replica-index and, in slices of several hosts, ray.io/replica-host-index.
/// Nothing for a pod without chips or without those labels.
///
/// Errors: InvalidArgument naming the field: an index that is no number or beyond the slice; accelerator or topology
/// missing, unknown or not of each other; chips that do not divide the topology; a split host on an older generation.
/// Source: KubeRay's multi-host indexing labels; hosts as kuberay-tpu-webhook counts them.
[[nodiscard]] Result<std::optional<SliceIdentity>> identify_ray_worker(const Json& pod);

}  // namespace tpuslice::tpu
