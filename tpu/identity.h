// SliceIdentity: which worker of which slice a pod is. Everything else about a TPU pod follows from it.
//
// It comes from what the pod itself says (index labels of its controller, node selector, requests), so every replica of
// the webhook and every controller finds the same, without looking at other pods.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tpu/catalog.h"
#include "tpu/naming.h"
#include "tpu/pod_request.h"

namespace tpuslice::tpu {

/// What numbers the pods of a slice.
enum class Workload : std::uint8_t { kRay, kJobSet, kLeaderWorkerSet, kJob, kStatefulSet };

struct SliceIdentity {
  Workload workload = Workload::kRay;
  std::string
      owner;  ///< With slice_name tells the slice from all others, of other tenants and objects of its name too.
  std::string slice_name;    ///< TPU_NAME.
  int slice_index = 0;       ///< Among the slices that may work together; MEGASCALE_SLICE_ID.
  int slices = 1;            ///< More than one: the workload says that so many work together; MEGASCALE_NUM_SLICES.
  std::string coordinator;   ///< Address of the first host of the first of those slices.
  int host_index = 0;        ///< Which TPU pod of the slice.
  int hosts = 1;             ///< TPU pods in the slice.
  HostNames host_names;      ///< Of the slice's hosts.
  std::string subdomain;     ///< Headless service that gives the hosts their DNS names.
  std::string topology_key;  ///< Node label whose values are whole slices, where the workload names one; else empty.
  std::string_view start;    ///< kFirstHostFirst or kFirstHostAlone (labels.h), or empty.
  const Accelerator* accelerator = nullptr;   ///< Into the catalog; null where the pod does not say (LeaderWorkerSets).
  std::optional<Topology> topology;           ///< Set if `accelerator` is.
  std::vector<TpuContainer> containers;       ///< Those with chips.
  std::vector<TpuContainer> init_containers;  ///< Those that get an environment too: of LeaderWorkerSets, as upstream.

  [[nodiscard]] bool multi_host() const { return hosts > 1; }
  /// Appends "<hostname>.<subdomain>", which resolves through the namespace's search path.
  void append_address(std::string& text, int host) const;
};

/// The identity of a TPU pod of
/// - a RayCluster, our controller's or KubeRay's, by the labels of KubeRay's multi-host indexing;
/// - a JobSet, by the labels of its Job and the completion index: a Job is a slice;
/// - a LeaderWorkerSet, by its annotations and the pod's name: a group or subgroup is a slice, less a leader without
/// TPU;
/// - an Indexed Job with a subdomain: as many completions in a row as the topology has hosts are a slice;
/// - a StatefulSet with a service: the same by ordinals, which start at 0.
/// Pods of a topology of one host are a slice each, whatever the workload.
///
/// Nothing for a pod without chips, one that no such controller numbered, or (but for a RayCluster's, whose indexes
/// promise a slice) one whose node selector names no accelerator and topology to count hosts by.
///
/// Errors: InvalidArgument naming the field: an index that is no number or beyond the slice; accelerator or topology
/// unknown or not of each other; chips that do not divide the topology; a split host on an older generation.
/// Source: KubeRay's multi-host indexing labels; hosts as kuberay-tpu-webhook counts them; GKE's webhook for Indexed
/// Jobs; LeaderWorkerSet's pod webhook, whose ids repeat in uneven subgroups and here do not.
[[nodiscard]] Result<std::optional<SliceIdentity>> identify_worker(const Json& pod);

}  // namespace tpuslice::tpu
