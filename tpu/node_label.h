// The value of a label that all nodes of a pod have.
#pragma once

#include <string>
#include <string_view>

#include "api/types/json.h"

namespace tpuslice::tpu {

/// The value in the pod's node selector, or, where the selector does not have the label, the one that every term of
/// its required node affinity demands (operator In, one value). Empty if there is none.
[[nodiscard]] std::string node_label(const Json& pod, std::string_view label);

}  // namespace tpuslice::tpu
