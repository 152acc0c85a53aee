// What keeps existing workloads of another project's controller from being taken over.
#pragma once

#include <string>
#include <vector>

#include "cmd/kubectl-tpu/checks/finding.h"
#include "controllers/kind/kind.h"

namespace tpuslice::plugin {

/// What the operator would say of an object that exists: a failure if it would refuse it or does not support a field, a
/// warning if admission warns. Pure.
[[nodiscard]] Finding check_object(const kind::Kind& kind, const Json& object);

/// Findings of the objects that are not ok, at most `limit`, and one with the number of objects of the kind. Pure.
[[nodiscard]] std::vector<Finding> check_objects(const kind::Kind& kind, const std::vector<Json>& objects,
                                                 std::size_t limit);

}  // namespace tpuslice::plugin
