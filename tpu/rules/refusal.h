// Refusal: why a controller does not act on a spec that no webhook has validated.
#pragma once

#include <string>
#include <vector>

#include "api/types/conditions.h"
#include "tpu/rules/field_errors.h"

namespace tpuslice::rules {

/// A field that upstream's controller of a kind implements and ours does not.
/// Refused where our controller serves the kind, as it would have no effect.
struct UnsupportedField {
  std::string path;    ///< "spec.enableInTreeAutoscaling"
  std::string reason;  ///< Why, and what to do instead.
  friend bool operator==(const UnsupportedField&, const UnsupportedField&) = default;
};

/// InvalidSpec with all field errors; else UnsupportedField with all unsupported fields in use; else no
/// problem.
[[nodiscard]] Problem refusal(const FieldErrors& errors, const std::vector<UnsupportedField>& unsupported = {});

}  // namespace tpuslice::rules
