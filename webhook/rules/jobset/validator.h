// Validation of a JobSet: the rules of upstream's webhook and CRD, and those of TPU slices. Pure.
#pragma once

#include <string>
#include <vector>

#include "webhook/rules/field_errors.h"
#include "webhook/rules/unserved_field.h"

namespace tpuslice::webhook {

/// Everything that is wrong with `jobset`. Absent fields count as their defaults, so it does not matter whether a
/// defaulting webhook ran.
///
/// `old` is the stored object on an update, else null. Then what was wrong with `old` already is not repeated, so that
/// an object from before a rule can still be suspended, labelled and deleted.
[[nodiscard]] std::vector<FieldError> validate_jobset(const Json& jobset, const Json* old);

/// Fields in use that our controller does not serve.
[[nodiscard]] std::vector<UnservedField> unserved_jobset_fields(const Json& jobset);

/// What is legal but probably not meant; each shorter than the 256 characters that the API server passes on.
[[nodiscard]] std::vector<std::string> warn_jobset(const Json& jobset);

}  // namespace tpuslice::webhook
