// Admission in tests: of all kinds, as the operator has it.
#pragma once

#include <optional>

#include "cmd/tpu-slice-operator/kinds.h"
#include "tpu/rules/pod_mutator.h"
#include "tpu/rules/workload_kinds.h"

namespace tpuslice {

/// `options` with all kinds.
inline rules::MutationOptions with_kinds(rules::MutationOptions options = {}) {
  options.kinds = admission_kinds();
  return options;
}

inline Result<std::optional<tpu::SliceIdentity>> identity_of_pod(const Json& pod) {
  return rules::identify_pod(pod, admission_kinds());
}

}  // namespace tpuslice
