// Validation of the token authentication of a RayCluster, spec.authOptions.
#pragma once

#include <string>
#include <vector>

#include "webhook/rules/field_errors.h"
#include "webhook/rules/raycluster/cluster_view.h"

namespace tpuslice::webhook {

void check_token_auth(const ClusterView& cluster, FieldErrors& errors);

/// Warns of options that protect nothing.
[[nodiscard]] std::vector<std::string> warn_token_auth(const ClusterView& cluster);

}  // namespace tpuslice::webhook
