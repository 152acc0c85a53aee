// Validation of the fault tolerance of a RayCluster's GCS: spec.gcsFaultToleranceOptions, annotations, and what users
// write about Redis beside them.
#pragma once

#include <string>
#include <vector>

#include "api/workloads/raycluster/spec.h"
#include "webhook/rules/field_errors.h"

namespace tpuslice::webhook {

/// `spec` was read from `cluster`. `old` is the stored object on an update, else null.
void check_fault_tolerance(const Json& cluster, const Json* old, const raycluster::RayClusterSpec& spec,
                           std::vector<FieldError>& errors);

/// Warns of options without effect.
[[nodiscard]] std::vector<std::string> warn_fault_tolerance(const Json& cluster);

}  // namespace tpuslice::webhook
