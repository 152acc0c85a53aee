// SliceIdentity: which host of which slice a pod is. Everything injected into a TPU pod follows from it.
//
// It is derived from the pod alone (index labels of its controller, node selector, requests), so every replica of the
// webhook and every controller derives the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tpu/catalog.h"
#include "tpu/naming.h"
#include "tpu/pod_request.h"

namespace tpuslice::tpu {

/// The differences between the webhooks of the ecosystem in the environment of TPU workers.
/// The defaults are those of GKE's webhook for Indexed Jobs.
struct EnvConvention {
  int process_port = 8471;                ///< TPU_PROCESS_PORT of the first process of a host.
  int megascale_port = 8080;              ///< MEGASCALE_PORT of the first process of a host.
  bool always_addresses = false;          ///< TPU_PROCESS_ADDRESSES even if hosts are not split between processes.
  bool hostnames_per_process = false;     ///< TPU_WORKER_HOSTNAMES repeats a host for each of its processes.
  bool hostnames_of_single_host = false;  ///< A slice of one host has them too; else the device plugin sets localhost.
  bool respects_user_identity = false;    ///< Nothing is injected if the user set the worker's id or hostnames.
};

struct SliceIdentity {
  std::string owner;           ///< Unique in the cluster together with slice_name.
  std::string slice_name;      ///< TPU_NAME.
  int slice_index = 0;         ///< Among the slices of a multislice job; MEGASCALE_SLICE_ID.
  int slices = 1;              ///< Slices of a multislice job, if the workload says so; MEGASCALE_NUM_SLICES.
  std::string coordinator;     ///< Address of the first host of the first of those slices.
  int host_index = 0;          ///< Which TPU pod of the slice.
  int hosts = 1;               ///< TPU pods in the slice.
  HostNames host_names;        ///< Names of the slice's hosts.
  bool sets_hostname = false;  ///< Admission gives the pod its hostname and subdomain, as its controller does not.
  std::string subdomain;       ///< Headless service that gives the hosts their DNS names.
  std::string topology_key;    ///< Node label whose values are whole slices, if the workload names one.
  std::string_view start;      ///< kOthersFollowHost0, kHost0IfAlone or kHostByHost (labels.h), or empty.
  /// Into the catalog; null if the pod selects no known one (LeaderWorkerSet).
  const Accelerator* accelerator = nullptr;
  std::optional<Topology> topology;           ///< Set if `accelerator` is.
  std::vector<TpuContainer> containers;       ///< With chips.
  std::vector<TpuContainer> init_containers;  ///< With chips, if the kind injects them too (LeaderWorkerSet).
  EnvConvention env;

  [[nodiscard]] bool multi_host() const { return hosts > 1; }
  /// Appends "<hostname>.<subdomain>", which resolves through the namespace's search path.
  void append_address(std::string& text, int host) const {
    host_names.append_to(text, host);
    text += '.';
    text += subdomain;
  }
};

/// The identity of a pod of one kind:
/// - RayCluster, ours or KubeRay's: by the labels of KubeRay's multi-host indexing;
/// - JobSet: by the labels of its Job and the completion index; a Job is a slice;
/// - LeaderWorkerSet: by its annotations and the pod's name; a group or subgroup is a slice, without a leader that has
///   no TPUs;
/// - Indexed Job with a subdomain: each block of as many completions as the topology has hosts is a slice;
/// - StatefulSet with a service: the same with ordinals, which start at 0.
/// Each pod of a single-host topology is a slice, of any kind.
///
/// Nothing for a pod without chips, one without indexes, one whose accelerator the catalog does not know (except for a
/// LeaderWorkerSet's, whose size is then the number of hosts), or (except for a RayCluster's, whose indexes imply a
/// slice) one without accelerator and topology in its node selector.
///
/// Errors: InvalidArgument naming the field: an index that is not a number or beyond the slice; a topology that its
/// accelerator does not have; chips that do not divide the topology; a split host on an older generation; a name in the
/// hosts' addresses that Kubernetes does not accept, so that no name in an identity is longer than a DNS name.
/// Source: KubeRay's multi-host indexing labels; hosts as kuberay-tpu-webhook counts them; GKE's webhook for Indexed
/// Jobs; LeaderWorkerSet's pod webhook, whose ids repeat in uneven subgroups and here do not.
[[nodiscard]] Result<std::optional<SliceIdentity>> identify_job_pod(const Json& pod);
[[nodiscard]] Result<std::optional<SliceIdentity>> identify_stateful_set_pod(const Json& pod);

}  // namespace tpuslice::tpu
