// Rules about Ray's autoscaler, and about the fields that only it reads.
#pragma once

#include <string>
#include <vector>

#include "api/workloads/raycluster/spec.h"
#include "webhook/rules/field_errors.h"

namespace tpuslice::webhook {

/// `spec` was read from `cluster`.
void check_autoscaling(const Json& cluster, const raycluster::RayClusterSpec& spec, std::vector<FieldError>& errors);

/// Restart policies that version 1 of the autoscaler does not expect.
[[nodiscard]] std::vector<std::string> warn_autoscaling(const raycluster::RayClusterSpec& spec);

}  // namespace tpuslice::webhook
