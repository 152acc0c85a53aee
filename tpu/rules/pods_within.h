// The pods and pod templates within an object of any kind.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "api/types/json.h"

namespace tpuslice::rules {

/// Most warnings of one sort about these pods.
inline constexpr std::size_t kMaxPodWarnings = 4;
/// Most bytes of a value in such a warning: with the longest path it stays below 256, where the API server cuts it.
inline constexpr std::size_t kMaxWarnedValue = 40;

/// Calls `visit` for each pod or pod template within `object` that asks for TPUs, until it returns false. `path` is
/// that of the pod, with a dot at its end unless it is empty.
void for_each_tpu_pod(const Json& object, const std::function<bool(const Json& pod, const std::string& path)>& visit);

}  // namespace tpuslice::rules
