// Rules for TPU pod templates of any kind: the topology exists for the accelerator, a pod asks for the chips of a host,
// and there are as many pods as the slice has hosts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tpu/rules/field_errors.h"

namespace tpuslice::rules {

/// The field of a workload that sets the number of TPU pods of a slice.
struct HostsField {
  std::string path;                        ///< "spec.workerGroupSpecs[0].numOfHosts"
  Json found;                              ///< Its value.
  std::int64_t pods = 1;                   ///< The number of TPU pods that follows from it.
  std::function<std::string(int)> advice;  ///< The right value for a number of hosts: "set numOfHosts: 4".
  bool many_single_hosts = false;          ///< Any number of pods is accepted if each is a single-host slice.
  bool needs_node_selector = true;         ///< A template that names accelerator or topology must name both.
};

/// Whether a container of the pod or template asks for google.com/tpu, even with a malformed quantity.
[[nodiscard]] bool asks_for_tpus(const Json& pod);

/// Whether an init container does.
[[nodiscard]] bool init_containers_ask_for_tpus(const Json& pod);

/// Whether the pod or template names its accelerator or topology. The nodes of one that names neither are chosen by
/// other labels, and what they are is unknown.
[[nodiscard]] bool selects_tpu_nodes(const Json& pod);

/// A warning about a template at `path` with TPUs that names neither; empty for others.
[[nodiscard]] std::string warn_unselected_nodes(const Json& pod, std::string_view path);

/// Host network without the cluster's DNS: the names of other pods do not resolve.
[[nodiscard]] bool lacks_cluster_dns(const Json& pod);

/// Appends the errors of the pod template `pod`, which is at `pod_path`; none if it asks for no TPUs.
///
/// Source: GKE's topology tables and device plugin (tpu/catalog.h, tpu/geometry.h); kuberay-tpu-webhook for the number
/// of hosts.
void check_tpu_pod(const Json& pod, const std::string& pod_path, const HostsField& hosts, FieldErrors& errors);

}  // namespace tpuslice::rules
