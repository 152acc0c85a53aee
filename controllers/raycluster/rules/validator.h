// Validation of a RayCluster: the rules of KubeRay, and those of TPU slices. Pure.
//
// The webhook refuses objects with it; the controller reports its errors in case no webhook is installed.
#pragma once

#include <string>
#include <vector>

#include "api/types/typed.h"
#include "controllers/raycluster/rules/spec.h"
#include "tpu/rules/field_errors.h"
#include "tpu/rules/refusal.h"

namespace tpuslice::rules {

/// All errors of `cluster`, in the order of its fields. `old` is the stored object on an update, else null; errors that
/// it has already are left out. Absent fields count as the CRD's defaults.
[[nodiscard]] FieldErrors validate_raycluster(const Json& cluster, const Json* old);

/// The same of a stored object, for the controller.
[[nodiscard]] FieldErrors validate_stored_raycluster(const Typed<raycluster::RayClusterSpec>& cluster);

/// Warnings about what is valid but probably not intended.
[[nodiscard]] std::vector<std::string> warn_raycluster(const Json& cluster);

/// Unsupported fields in use; empty for a cluster that spec.managedBy assigns to another controller. Fields without
/// effect in KubeRay as well, such as the options of a disabled feature, are not included.
[[nodiscard]] std::vector<UnsupportedField> unsupported_fields(const Json& cluster);
[[nodiscard]] std::vector<UnsupportedField> unsupported_fields(const raycluster::RayClusterSpec& spec);

}  // namespace tpuslice::rules
