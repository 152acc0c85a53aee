// Validation of a RayService: the rules of KubeRay, and those of the RayCluster that it embeds. Pure.
//
// The webhook refuses objects with it; the controller reports its errors in case no webhook is installed.
#pragma once

#include <string>
#include <vector>

#include "tpu/rules/field_errors.h"
#include "tpu/rules/refusal.h"

namespace tpuslice::rules {

/// All errors of `service`. `old` is the stored object on an update, else null; errors that it has already are left
/// out. Absent fields count as the CRD's defaults.
[[nodiscard]] FieldErrors validate_rayservice(const Json& service, const Json* old);

/// Warnings of less than 256 bytes each: about what is valid but probably not intended, and on an update about changes
/// that start no upgrade.
[[nodiscard]] std::vector<std::string> warn_rayservice(const Json& service, const Json* old);

/// Unsupported fields in use, also those of the embedded RayCluster; empty for a service that spec.managedBy assigns to
/// another controller.
[[nodiscard]] std::vector<UnsupportedField> unsupported_rayservice_fields(const Json& service);

}  // namespace tpuslice::rules
