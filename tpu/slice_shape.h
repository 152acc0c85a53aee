// SliceShape: the slice that a pod, or a template of pods, asks for.
#pragma once

#include <optional>

#include "api/types/json.h"
#include "tpu/catalog.h"

namespace tpuslice::tpu {

struct SliceShape {
  const Accelerator* accelerator;  ///< Into the catalog.
  Topology topology;
};

/// The accelerator and topology in the pod's node selector, or the annotation of a sub-slice; nothing if one of them is
/// missing. Errors: InvalidArgument naming the field that is unknown or does not fit the other.
[[nodiscard]] Result<std::optional<SliceShape>> selected_shape(const Json& pod);

/// The number of hosts of that slice, by the chips that the pod's containers ask for. Nothing for a pod that asks for
/// no TPUs or for a slice that does not exist.
[[nodiscard]] std::optional<int> selected_hosts(const Json& pod);

}  // namespace tpuslice::tpu
