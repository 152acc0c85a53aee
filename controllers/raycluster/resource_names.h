// Resource names that Ray counts as GPUs.
#pragma once

#include <string_view>

namespace tpuslice::raycluster {

/// "nvidia.com/gpu" and the like, or an NVIDIA MIG slice such as "nvidia.com/mig-1g.5gb".
[[nodiscard]] inline bool is_gpu_resource(std::string_view name) {
  return name.ends_with("gpu") || (name.starts_with("nvidia.com/mig-") && name.ends_with("gb"));
}

}  // namespace tpuslice::raycluster
