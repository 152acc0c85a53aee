// The groups of a RayCluster, for its validators.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "webhook/rules/field_errors.h"

namespace tpuslice::webhook {

/// Calls `visit(group, "spec.workerGroupSpecs[0]")` for each worker group that is an object.
void for_each_group(const Json& cluster, const std::function<void(const Json&, const std::string&)>& visit);

/// What TPU slices demand of the cluster's groups.
void check_group_slices(const Json& cluster, std::vector<FieldError>& errors);

}  // namespace tpuslice::webhook
