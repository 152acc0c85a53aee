// Rules about Ray's autoscaler, and about the fields that only it reads.
#pragma once

#include <string>
#include <vector>

#include "controllers/raycluster/rules/cluster_view.h"
#include "tpu/rules/field_errors.h"

namespace tpuslice::rules {

void check_autoscaling(const ClusterView& cluster, FieldErrors& errors);

/// Restart policies that version 1 of the autoscaler does not expect.
[[nodiscard]] std::vector<std::string> warn_autoscaling(const ClusterView& cluster);

}  // namespace tpuslice::rules
