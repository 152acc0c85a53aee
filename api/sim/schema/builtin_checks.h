// Parts of validate_builtin(). They expect what the schema has checked: members are absent or of the right type.
#pragma once

#include <string>
#include <vector>

#include "api/sim/schema/field_path.h"
#include "api/types/json.h"
#include "api/types/validation_names.h"

namespace tpuslice::sim {

/// Adds "Invalid value" for every complaint.
void check_name(Problems& problems, const FieldPath& path, const std::string& value, const Complaints& complaints);
/// Labels, annotations and owner references.
void check_metadata(Problems& problems, const FieldPath& path, const Json& metadata);
void check_label_selector(Problems& problems, const FieldPath& path, const Json& selector);
/// A TCP port, as a number or, where `named` is allowed, as a name.
void check_port(Problems& problems, const FieldPath& path, const Json& port, bool named);
/// "Unsupported value" unless the member is absent or one of `supported`.
void check_choice(Problems& problems, const FieldPath& path, const Json& object, const char* name,
                  const std::vector<std::string>& supported);

void check_pod_spec(Problems& problems, const FieldPath& path, const Json& spec);
/// The containers of a pod: called by check_pod_spec.
void check_containers(Problems& problems, const FieldPath& path, const Json& spec);
void check_pod_scheduling(Problems& problems, const FieldPath& path, const Json& spec);
void check_pod_update(Problems& problems, const Json& pod, const Json& old);

void check_service(Problems& problems, const Json& service, const Json* old);
void check_workload(Problems& problems, std::string_view kind, const Json& object, const Json* old);
void check_webhook_configuration(Problems& problems, const Json& configuration);

/// The member, or an empty list or object.
[[nodiscard]] const Json& list_at(const Json& object, const char* name);
[[nodiscard]] const Json& map_at(const Json& object, const char* name);

}  // namespace tpuslice::sim
