// Validation of a DisaggregatedSet: the rules of upstream's webhook and CRD, and those of the LeaderWorkerSets of its
// roles. Pure.
//
// Used by admission, and by the controller for objects that admission did not see.
#pragma once

#include <string>
#include <vector>

#include "api/types/json.h"
#include "tpu/rules/field_errors.h"

namespace tpuslice::rules {

/// All errors of `set`. `old` is the stored object on an update, whose errors are left out; else null. A role may
/// change what is immutable of a LeaderWorkerSet: a new revision has new ones.
[[nodiscard]] FieldErrors validate_disaggregatedset(const Json& set, const Json* old);

/// Warnings about values that are valid but probably unintended, and on an update about changes that take effect later.
[[nodiscard]] std::vector<std::string> warn_disaggregatedset(const Json& set, const Json* old = nullptr);

}  // namespace tpuslice::rules
