// References to workloads, as users write them: "rayjob/train", "lws/serve", "pod/x".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fleet/model.h"

namespace tpuslice::fleet {

struct Reference {
  std::string kind;  ///< In lower case, in the singular: "rayjob", "pool", "node".
  std::string name;
};

/// Accepts plurals and the short names of kubectl: rayjobs, lws, sts, job.batch. Errors: InvalidArgument.
[[nodiscard]] Result<Reference> read_reference(std::string_view text);

/// Whether the reference names the workload.
[[nodiscard]] bool names(const Reference& reference, const WorkloadName& workload);

}  // namespace tpuslice::fleet
