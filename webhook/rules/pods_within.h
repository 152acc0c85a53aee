// The pods and pod templates within an object of any kind.
#pragma once

#include <functional>
#include <string>

#include "api/types/json.h"

namespace tpuslice::webhook {

/// Calls `visit` for each pod or pod template within `object` that asks for TPUs, until it returns false. `path` is
/// that of the pod, with a dot at its end unless it is empty.
void for_each_tpu_pod(const Json& object, const std::function<bool(const Json& pod, const std::string& path)>& visit);

}  // namespace tpuslice::webhook
