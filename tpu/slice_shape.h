// SliceShape: the slice that a pod, or a template of pods, asks for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/json.h"
#include "tpu/catalog.h"
#include "tpu/pod_request.h"

namespace tpuslice::tpu {

struct SliceShape {
  const Accelerator* accelerator;  ///< Into the catalog.
  Topology topology;
};

/// The accelerator and topology in the pod's node selector or required node affinity (node_label()), or the annotation
/// of a sub-slice or dynamic slice; nothing if one of them is missing, or the catalog does not know the accelerator.
/// Errors: InvalidArgument naming the field that is malformed or does not fit the other.
[[nodiscard]] Result<std::optional<SliceShape>> selected_shape(const Json& pod);

/// The topology of a pod that selects nodes of topology `selected` and has the annotation
/// cloud.google.com/gke-tpu-slice-topology, which may be empty: the annotation if the accelerator has that shape, and
/// it is a part of `selected` or consists of several cubes; else `selected`. Source: the device plugin for parts; GKE's
/// dynamic slices, which join node pools of one tpu7x cube each.
[[nodiscard]] Topology annotated_topology(const Accelerator& accelerator, const Topology& selected,
                                          std::string_view annotation);

/// The accelerator of the pod's nodes if the catalog does not know it; else empty.
[[nodiscard]] std::string unknown_accelerator(const Json& pod);

/// The number of hosts of that slice, by the chips that the pod's containers ask for. Nothing for a pod that asks for
/// no TPUs or for a slice that does not exist.
[[nodiscard]] std::optional<int> selected_hosts(const Json& pod);
/// The same for a pod with these TPU containers.
[[nodiscard]] std::optional<int> selected_hosts(const Json& pod, const std::vector<TpuContainer>& containers);

}  // namespace tpuslice::tpu
