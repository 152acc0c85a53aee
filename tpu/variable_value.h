// The value that a variable of a pod's container has.
#pragma once

#include <string>

#include "api/types/json.h"

namespace tpuslice::tpu {

/// The value of an entry of a container's `env`, or of the field of the pod that its fieldRef names, such as
/// "metadata.annotations['a/b']". A field that only the kubelet knows is returned in angle brackets: "<status.hostIP>".
[[nodiscard]] std::string variable_value(const Json& pod, const Json& variable);

}  // namespace tpuslice::tpu
