// Validation of the token authentication of a RayCluster, spec.authOptions.
#pragma once

#include <string>
#include <vector>

#include "controllers/raycluster/rules/cluster_view.h"
#include "tpu/rules/field_errors.h"

namespace tpuslice::rules {

void check_token_auth(const ClusterView& cluster, FieldErrors& errors);

/// Warns of options that protect nothing.
[[nodiscard]] std::vector<std::string> warn_token_auth(const ClusterView& cluster);

}  // namespace tpuslice::rules
