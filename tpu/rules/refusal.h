// Refusal: why a controller does not act on a spec that no webhook has validated.
#pragma once

#include <vector>

#include "api/types/conditions.h"
#include "tpu/rules/field_errors.h"
#include "tpu/rules/unsupported_field.h"

namespace tpuslice::rules {

/// InvalidSpec with all field errors; else UnsupportedField with all unsupported fields in use; else no
/// problem.
[[nodiscard]] Problem refusal(const FieldErrors& errors, const std::vector<UnsupportedField>& unsupported = {});

}  // namespace tpuslice::rules
