// What admission does for Fleets and their pods.
#pragma once

#include <optional>

#include "tpu/identity.h"
#include "tpu/rules/workload_kinds.h"

namespace tpuslice::example {

extern const rules::WorkloadKind kAdmission;

/// Only this kind.
[[nodiscard]] rules::WorkloadKinds own_kinds();

/// Reads the labels that the controller sets; a ship is a slice. The rest, and the errors, as tpu/identity.h says.
[[nodiscard]] Result<std::optional<tpu::SliceIdentity>> identify_pod(const Json& pod);

}  // namespace tpuslice::example
