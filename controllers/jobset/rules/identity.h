// TPU identity of the pods of JobSets, ours or upstream's.
#pragma once

#include <optional>

#include "tpu/identity.h"

namespace tpuslice::jobset {

/// Reads the labels of the pod's Job and the completion index; a Job is a slice. The rest, and the errors, as
/// tpu/identity.h says.
[[nodiscard]] Result<std::optional<tpu::SliceIdentity>> identify_pod(const Json& pod);

}  // namespace tpuslice::jobset
