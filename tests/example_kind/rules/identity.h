// TPU identity of the pods of Fleets.
#pragma once

#include <optional>

#include "tpu/identity.h"

namespace tpuslice::example {

/// Reads the labels that the controller sets; a ship is a slice. The rest, and the errors, as tpu/identity.h says.
[[nodiscard]] Result<std::optional<tpu::SliceIdentity>> identify_pod(const Json& pod);

}  // namespace tpuslice::example
