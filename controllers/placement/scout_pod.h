// The scout pod of a slice (scale_up.h).
#pragma once

#include <string>
#include <vector>

#include "controllers/placement/scale_up.h"

namespace tpuslice::placement {

/// Derived from the slice's key.
[[nodiscard]] std::string scout_name(const ObjectKey& slice);

/// With node selector, node affinity, tolerations and chips of the slice's first host. It stays off domains where any
/// pod of a slice or scout is, by anti-affinity, and off `avoided` domains.
[[nodiscard]] Json scout_pod(const Slice& slice, const std::vector<std::string>& avoided,
                             const ScaleUpOptions& options);

}  // namespace tpuslice::placement
