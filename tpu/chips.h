// What the views of pods and nodes say of TPUs. Stores keep it where ManagerOptions::kept_keys has kKeptKeys.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "api/types/views.h"
#include "tpu/labels.h"

namespace tpuslice::tpu {

/// Keys that views of pods and nodes keep whatever else they keep: chips, and the slice that a pod belongs to.
inline constexpr std::array<std::string_view, 2> kKeptKeys = {kTpuResource, kSlice};

/// Chips that the pod asks for.
[[nodiscard]] inline std::int64_t chips_of(const PodView& pod) {
  return amount_of(pod.scheduling->resources, kTpuResource);
}
/// Chips that the node advertises.
[[nodiscard]] inline std::int64_t chips_of(const NodeView& node) { return amount_of(*node.allocatable, kTpuResource); }

}  // namespace tpuslice::tpu
