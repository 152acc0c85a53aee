// Label, annotation and resource names by which TPU workloads are recognised.
#pragma once

#include <string_view>

namespace tpuslice::tpu {

inline constexpr std::string_view kTpuResource = "google.com/tpu";
inline constexpr std::string_view kAcceleratorLabel = "cloud.google.com/gke-tpu-accelerator";
inline constexpr std::string_view kTopologyLabel = "cloud.google.com/gke-tpu-topology";
inline constexpr std::string_view kNodePoolLabel = "cloud.google.com/gke-nodepool";
/// Annotation of a pod that uses a sub-slice or a dynamic slice: its topology instead of its nodes'.
inline constexpr std::string_view kSliceTopologyAnnotation = "cloud.google.com/gke-tpu-slice-topology";
/// Key of the taint on TPU nodes: google.com/tpu=present:NoSchedule.
inline constexpr std::string_view kTpuTaint = "google.com/tpu";

inline constexpr std::string_view kRayCluster = "ray.io/cluster";
inline constexpr std::string_view kRayNodeType = "ray.io/node-type";
inline constexpr std::string_view kRayGroup = "ray.io/group";
inline constexpr std::string_view kRayReplicaName = "ray.io/worker-group-replica-name";
inline constexpr std::string_view kRayReplicaIndex = "ray.io/worker-group-replica-index";
inline constexpr std::string_view kRayHostIndex = "ray.io/replica-host-index";
inline constexpr std::string_view kAppName = "app.kubernetes.io/name";

/// Ours.
inline constexpr std::string_view kSlice = "tpuslice.dev/slice";             ///< Label: which slice a pod belongs to.
inline constexpr std::string_view kSliceHosts = "tpuslice.dev/slice-hosts";  ///< Annotation: how many pods it has.
inline constexpr std::string_view kTopologyKey =
    "tpuslice.dev/topology-key";  ///< Annotation: MutationOptions::topology_key.

}  // namespace tpuslice::tpu
