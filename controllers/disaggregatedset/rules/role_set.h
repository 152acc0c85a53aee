// The LeaderWorkerSet of a role, as its own validator sees it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "controllers/disaggregatedset/rules/spec.h"
#include "tpu/rules/field_errors.h"

namespace tpuslice::disaggregatedset {

/// The LeaderWorkerSet of the last slice, which has the longest name, with a revision of zeros. An External role has
/// the replicas of its scaler, so the set has none.
[[nodiscard]] Json role_set(const DisaggregatedSetSpec& spec, const RoleSpec& role);

/// The field of a DisaggregatedSet for one of the set of its role `index`:
/// "spec.leaderWorkerTemplate.size" is "spec.roles[1].spec.leaderWorkerTemplate.size".
[[nodiscard]] std::string role_path(std::size_t index, std::string_view path);

/// Appends the errors of that LeaderWorkerSet.
void check_role_set(const DisaggregatedSetSpec& spec, std::size_t index, rules::FieldErrors& errors);

}  // namespace tpuslice::disaggregatedset
