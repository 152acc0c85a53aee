// Validation of the fault tolerance of a RayCluster's GCS: spec.gcsFaultToleranceOptions, annotations, and what users
// write about Redis beside them.
#pragma once

#include <string>
#include <vector>

#include "controllers/raycluster/rules/cluster_view.h"
#include "tpu/rules/field_errors.h"

namespace tpuslice::rules {

/// `old` is the stored cluster on an update, else null.
void check_fault_tolerance(const ClusterView& cluster, const Json* old, FieldErrors& errors);

/// Warns of options without effect.
[[nodiscard]] std::vector<std::string> warn_fault_tolerance(const ClusterView& cluster);

}  // namespace tpuslice::rules
