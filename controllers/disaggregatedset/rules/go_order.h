// The JSON of a leaderWorkerTemplate as Go prints its struct: members in the order of the fields, while those of a map,
// such as labels, are sorted. Hashes of upstream's controller are of this text.
#pragma once

#include <string>

#include "api/types/json.h"

namespace tpuslice::disaggregatedset {

/// `groups`: the normal form (controllers/leaderworkerset/rules/normal_form.h), which has the members that Go prints.
/// Members that k8s.io/api v0.36 does not have follow the others, sorted.
[[nodiscard]] std::string print_group_template(const Json& groups);

}  // namespace tpuslice::disaggregatedset
