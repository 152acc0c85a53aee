// The rules of a schema, as far as the check of a CRD asks about them.
#pragma once

#include <string>

#include "api/types/json.h"

namespace tpuslice::sim {

/// Why a CRD may not have this rule on `schema`, "" when it may: "rule: Invalid value: ...: compilation failed: ...".
/// `resource`: the schema is of a whole object; `correlatable`: items can be told apart from write to write.
[[nodiscard]] std::string rule_problem(const Json& schema, const Json& rule, bool resource, bool correlatable);

}  // namespace tpuslice::sim
