// Validation of a RayCluster: the rules of KubeRay, and those of TPU slices. Pure.
//
// The webhook refuses with it; the controller reports with it where no webhook is installed.
#pragma once

#include <string>
#include <vector>

#include "webhook/rules/field_errors.h"
#include "webhook/rules/unserved_field.h"

namespace tpuslice::webhook {

/// Everything that is wrong with `cluster`, in the order of its fields. `old` is the stored object on an update, else
/// null; what was wrong with it already is not repeated. Absent fields count as the CRD's defaults.
[[nodiscard]] std::vector<FieldError> validate_raycluster(const Json& cluster, const Json* old);

/// What is legal but probably not meant.
[[nodiscard]] std::vector<std::string> warn_raycluster(const Json& cluster);

/// Fields in use that would silently do nothing; empty for a cluster that another controller manages
/// (spec.managedBy). A field that has no effect in KubeRay either, such as the options of a disabled feature, is not
/// one.
[[nodiscard]] std::vector<UnservedField> unserved_fields(const Json& cluster);

/// True if spec.managedBy leaves the object to another controller.
[[nodiscard]] bool managed_by_other(const Json& cluster);

}  // namespace tpuslice::webhook
