// TPU chips of views that tests make.
#pragma once

#include <cstdint>

#include "tpu/chips.h"

namespace tpuslice::tpu {

inline ResourceAmounts chips(std::int64_t amount) {
  if (amount == 0) return {};
  return {{SharedString(kTpuResource), amount}};
}

inline void set_chips(PodView& pod, std::int64_t amount) { pod.scheduling.edit().resources = chips(amount); }
inline void set_chips(NodeView& node, std::int64_t amount) { node.allocatable.edit() = chips(amount); }

}  // namespace tpuslice::tpu
