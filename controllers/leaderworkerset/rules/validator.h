// Validation of a LeaderWorkerSet: the rules of upstream's webhook and CRD, and those of TPU slices. Pure.
//
// Used by admission, and by the controller for objects that admission did not see.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/types/typed.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "tpu/rules/field_errors.h"

namespace tpuslice::rules {

/// Source of upstream's rules (FieldError::rule).
inline constexpr std::string_view kLeaderWorkerSetRule = "lws";

/// All errors of `set`. `old` is the stored object on an update, otherwise null. Absent fields count as the defaults of
/// the CRD and of upstream's webhook.
///
/// An update reports errors that upstream does not have only if the stored object did not have them, so that sets older
/// than this webhook can be scaled, labelled and deleted.
[[nodiscard]] FieldErrors validate_leaderworkerset(const Json& set, const Json* old);

/// The rules that a stored set keeps, for the controller: not those between percentages and replicas, which the scale
/// subresource changes without admission.
[[nodiscard]] FieldErrors validate_stored_leaderworkerset(const Typed<leaderworkerset::LeaderWorkerSetSpec>& set);

/// Warnings of less than 256 bytes each.
[[nodiscard]] std::vector<std::string> warn_leaderworkerset(const Json& set, const Json* old = nullptr);

}  // namespace tpuslice::rules
