// ApiReference: a page of docs/api, generated from a CRD.
#pragma once

#include <string>

#include "api/types/json.h"

namespace tpuslice::testing {

/// Markdown: versions, kubectl's columns, rules, and a table of all fields of spec and status.
///
/// Specifications of RayClusters in other kinds refer to the page of RayCluster, and specifications of pods to
/// pod-spec.md, but for members that `pod_spec` does not have in the same form.
[[nodiscard]] std::string api_reference(const Json& crd, const Json& pod_spec);

/// The page of the fields of pod specifications.
[[nodiscard]] std::string pod_reference(const Json& pod_spec);

}  // namespace tpuslice::testing
