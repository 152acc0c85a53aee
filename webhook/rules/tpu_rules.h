// What TPU slices demand of a workload's pod template, whatever the workload: a topology that the accelerator has,
// chips that its hosts have, and as many pods as the slice has hosts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "webhook/rules/field_errors.h"

namespace tpuslice::webhook {

/// The field by which a workload says of how many TPU pods a slice consists.
struct HostsField {
  std::string path;                        ///< "spec.workerGroupSpecs[0].numOfHosts"
  Json found;                              ///< What it says.
  std::int64_t pods = 1;                   ///< The TPU pods that this makes.
  std::function<std::string(int)> advice;  ///< What to write for a number of hosts: "set numOfHosts: 4".
  bool many_single_hosts = false;          ///< Any number of pods may be slices of one host each.
};

/// Whether a container of the pod or template asks for google.com/tpu; also in a quantity that is none: its owner meant
/// TPUs.
[[nodiscard]] bool asks_for_tpus(const Json& pod);

/// On the host's network without the cluster's DNS: the names of other pods do not resolve there.
[[nodiscard]] bool lacks_cluster_dns(const Json& pod);

/// Appends what is wrong with the pod template `pod` at `pod_path`; nothing for one that asks for no TPU.
///
/// Source: GKE's topology tables and device plugin (tpu/catalog.h, tpu/geometry.h); kuberay-tpu-webhook for the number
/// of hosts.
void check_tpu_pod(const Json& pod, const std::string& pod_path, const HostsField& hosts,
                   std::vector<FieldError>& errors);

}  // namespace tpuslice::webhook
