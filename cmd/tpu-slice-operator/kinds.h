// The workload kinds that the operator serves.
#pragma once

#include <span>

#include "controllers/kind/kind.h"

namespace tpuslice {

/// A kind whose objects own objects of another kind follows that kind.
[[nodiscard]] std::span<const kind::Kind* const> kinds();

/// What admission handles: the kinds, and Kubernetes' own that have pods with an index.
[[nodiscard]] rules::WorkloadKinds admission_kinds();

}  // namespace tpuslice
