// Rules about Ray's autoscaler, and about the fields that only it reads.
#pragma once

#include <string>
#include <vector>

#include "webhook/rules/field_errors.h"
#include "webhook/rules/raycluster/cluster_view.h"

namespace tpuslice::webhook {

void check_autoscaling(const ClusterView& cluster, FieldErrors& errors);

/// Restart policies that version 1 of the autoscaler does not expect.
[[nodiscard]] std::vector<std::string> warn_autoscaling(const ClusterView& cluster);

}  // namespace tpuslice::webhook
