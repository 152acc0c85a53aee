// The CustomResourceDefinitions of deploy/crds, for tests.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::testing {

/// Sorted by file name; a file may have several.
[[nodiscard]] std::vector<Json> read_crds();

/// By kind. Aborts if there is none.
[[nodiscard]] Json read_crd(const std::string& kind);

/// The openAPIV3Schema of the version that is stored.
[[nodiscard]] const Json& stored_schema(const Json& crd);

/// Calls `visit` with each property below `schema` and its path, such as "spec.workerGroupSpecs[].groupName". Returns
/// false to leave out what is below the property.
using VisitField = std::function<bool(const std::string& path, const Json& field, bool required)>;
void each_field(const Json& schema, const VisitField& visit, const std::string& path = {});

/// Whether the field is the specification of a pod: it has containers.
[[nodiscard]] bool is_pod_spec(const Json& field);

}  // namespace tpuslice::testing
