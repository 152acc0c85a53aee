// Topology keys of GKE: node labels whose values are slices, other than the node pool.
#pragma once

#include <string>
#include <string_view>

#include "api/types/json.h"

namespace tpuslice::tpu {

/// Label of a node in a dynamic slice: the slice's name.
inline constexpr std::string_view kDynamicSliceLabel = "cloud.google.com/gke-tpu-slice";

/// The node label whose values are the slices that the pod asks for, where they are not node pools; else empty:
/// - cloud.google.com/gke-tpu-slice, if the node selector names it, or the annotation gke-tpu-slice-topology names a
///   tpu7x topology of several cubes: a dynamic slice;
/// - cloud.google.com/gke-tpu-slice-<topology>-id, for tpu7x gke-tpu-partition-<topology>-id, if that annotation names
///   a part of the selected topology, or no topology is selected: a sub-slice.
///
/// Source: GKE's device plugin, which sets these labels for each shape up to the node pool's; Google's samples of
/// dynamic slices.
[[nodiscard]] std::string gke_topology_key(const Json& pod);

/// Whether `key` is one of these labels.
[[nodiscard]] bool is_gke_topology_key(std::string_view key);

}  // namespace tpuslice::tpu
