// Built-in resources: schemas, defaults and validation.
#pragma once

#include <vector>

#include "cmd/tpu-slice-sim/resources/resources.h"
#include "cmd/tpu-slice-sim/schema/structural.h"

namespace tpuslice::sim {

/// What is wrong with `object`; `old` is the object before the write, null on create. Metadata is included as far as
/// labels, annotations and owner references go; names are the registry's.
[[nodiscard]] std::vector<FieldProblem> validate_builtin(const Resource& resource, const Json& object, const Json* old);

/// Writes the defaults a client sees when it reads the object back. Idempotent.
void default_builtin(const Resource& resource, Json& object);

/// OpenAPI v3 schema with everything inlined, with x-kubernetes-patch-strategy, -patch-merge-key, -list-type,
/// -list-map-keys and -map-type. Null for custom resources. Lives as long as the program.
[[nodiscard]] const Json& builtin_schema(const Resource& resource);

}  // namespace tpuslice::sim
