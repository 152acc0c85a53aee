// Warnings about values of annotations that have no effect, in objects of any kind.
#pragma once

#include <string>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::rules {

/// A warning for each value of tpuslice.dev/slices-together, scale-up or teardown-grace-period-seconds that is not
/// supported, but no more than four, of pods and pod templates within `object` that ask for TPUs. Such a value is
/// treated as absent.
[[nodiscard]] std::vector<std::string> warn_invalid_annotations(const Json& object);

/// The same for a pod that asks for TPUs.
[[nodiscard]] std::vector<std::string> warn_invalid_annotations_of_pod(const Json& pod);

}  // namespace tpuslice::rules
