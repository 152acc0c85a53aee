// Parts of validate_builtin(), after the check by the schema: members are absent or of the right type.
#pragma once

#include <initializer_list>

#include "api/types/json.h"
#include "cmd/tpu-slice-sim/schema/field_path.h"

namespace tpuslice::sim {

void check_pod_update(Problems& problems, const Json& pod, const Json& old);
/// Generated labels and selector, and on update immutable fields; `old` is null on create.
void check_job(Problems& problems, const Json& job, const Json* old);

/// Checks that spec.selector matches the labels of spec.template.
void check_selector(Problems& problems, const Json& spec);
/// "field is immutable" for each of these members that differs.
void check_immutable(Problems& problems, const FieldPath& path, const Json& spec, const Json& old,
                     std::initializer_list<const char*> names);

/// The member, or an empty list or object.
[[nodiscard]] const Json& list_at(const Json& object, const char* name);
[[nodiscard]] const Json& map_at(const Json& object, const char* name);

}  // namespace tpuslice::sim
