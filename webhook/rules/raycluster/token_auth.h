// Validation of the token authentication of a RayCluster, spec.authOptions.
#pragma once

#include <string>
#include <vector>

#include "api/workloads/raycluster/spec.h"
#include "webhook/rules/field_errors.h"

namespace tpuslice::webhook {

/// `spec` was read from `cluster`.
void check_token_auth(const Json& cluster, const raycluster::RayClusterSpec& spec, std::vector<FieldError>& errors);

/// Warns of options that protect nothing.
[[nodiscard]] std::vector<std::string> warn_token_auth(const Json& cluster);

}  // namespace tpuslice::webhook
