// Warnings about accelerators that the catalog does not know, in objects of any kind.
#pragma once

#include <string>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::rules {

/// One warning for each pod or pod template within `object`, but no more than four, that asks for TPUs and selects an
/// accelerator that tpu/catalog.h does not know: a new one, whose pods are left to the scheduler, or a typing error.
/// The last warning lists the known accelerators.
[[nodiscard]] std::vector<std::string> warn_unknown_accelerators(const Json& object);

/// The same for a pod that asks for TPUs.
[[nodiscard]] std::vector<std::string> warn_unknown_accelerator_of_pod(const Json& pod);

}  // namespace tpuslice::rules
