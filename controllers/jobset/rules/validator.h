// Validation of a JobSet: the rules of upstream's webhook and CRD, and those of TPU slices. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/types/typed.h"
#include "controllers/jobset/rules/spec.h"
#include "tpu/rules/field_errors.h"
#include "tpu/rules/refusal.h"

namespace tpuslice::rules {

/// Source of upstream's rules (FieldError::rule).
inline constexpr std::string_view kJobSetRule = "jobset";

/// All field errors of `jobset`. Absent fields count as their defaults, so it does not matter whether a defaulting
/// webhook ran.
///
/// `old` is the stored object on an update, else null. Errors that `old` has too are left out, so that an object from
/// before a rule can still be suspended, labelled and deleted.
[[nodiscard]] FieldErrors validate_jobset(const Json& jobset, const Json* old);

/// The same of a stored object, for the controller.
[[nodiscard]] FieldErrors validate_stored_jobset(const Typed<jobset::JobSetSpec>& jobset);

/// Fields in use that this controller does not support.
[[nodiscard]] std::vector<UnsupportedField> unsupported_jobset_fields(const Json& jobset);

/// Warnings about valid but probably unintended values; each shorter than the 256 characters that the API server
/// allows.
[[nodiscard]] std::vector<std::string> warn_jobset(const Json& jobset);

}  // namespace tpuslice::rules
