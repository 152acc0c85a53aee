// What admission does for LeaderWorkerSets and their pods.
#pragma once

#include <optional>

#include "tpu/identity.h"
#include "tpu/rules/workload_kinds.h"

namespace tpuslice::leaderworkerset {

extern const rules::WorkloadKind kAdmission;

/// Reads the pod's annotations and name. A group or subgroup is a slice, without a leader that has no TPUs. A pod whose
/// accelerator the catalog does not know is a host, too: the size of the group is the number of hosts. The rest, and
/// the errors, as tpu/identity.h says.
/// Source: LeaderWorkerSet's pod webhook, whose ids repeat in uneven subgroups and here do not.
[[nodiscard]] Result<std::optional<tpu::SliceIdentity>> identify_pod(const Json& pod);

}  // namespace tpuslice::leaderworkerset
