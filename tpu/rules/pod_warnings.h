// Warnings about the pods and pod templates within an object of any kind.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::rules {

/// Most warnings of one sort about these pods.
inline constexpr std::size_t kMaxPodWarnings = 4;
/// Most bytes of a value in such a warning: with the longest path it stays below 256, where the API server cuts it.
inline constexpr std::size_t kMaxWarnedValue = 40;

/// Calls `visit` for each pod or pod template within `object` that asks for TPUs, until it returns false. `path` is
/// that of the pod, with a dot at its end unless it is empty.
void for_each_tpu_pod(const Json& object, const std::function<bool(const Json& pod, const std::string& path)>& visit);

/// One warning for each pod or pod template within `object`, but no more than four, that asks for TPUs and selects an
/// accelerator that tpu/catalog.h does not know: a new one, whose pods are left to the scheduler, or a typing error.
/// The last warning lists the known accelerators.
[[nodiscard]] std::vector<std::string> warn_unknown_accelerators(const Json& object);

/// The same for a pod that asks for TPUs.
[[nodiscard]] std::vector<std::string> warn_unknown_accelerator_of_pod(const Json& pod);

/// A warning for each value of tpuslice.dev/slices-together, scale-up or teardown-grace-period-seconds that is not
/// supported, but no more than four, of pods and pod templates within `object` that ask for TPUs. Such a value is
/// treated as absent.
[[nodiscard]] std::vector<std::string> warn_invalid_annotations(const Json& object);

/// The same for a pod that asks for TPUs.
[[nodiscard]] std::vector<std::string> warn_invalid_annotations_of_pod(const Json& pod);

}  // namespace tpuslice::rules
