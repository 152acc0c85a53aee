// Strategic merge patch.
#pragma once

#include "api/base/result.h"
#include "api/types/json.h"

namespace tpuslice::sim {

/// `schema` is that of the document, with x-kubernetes-patch-strategy and x-kubernetes-patch-merge-key. Supports
/// $patch, $setElementOrder, $deleteFromPrimitiveList and $retainKeys. Errors: InvalidArgument.
[[nodiscard]] Result<Json> apply_strategic_merge(const Json& schema, Json document, const Json& patch);

}  // namespace tpuslice::sim
