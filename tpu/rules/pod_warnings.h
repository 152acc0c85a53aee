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

using PodVisit = std::function<bool(const Json& pod, const std::string& path)>;
/// Calls `visit` for each pod or pod template within `object`, until it returns false. `path` is that of the pod, with
/// a dot at its end unless it is empty.
void for_each_pod(const Json& object, const PodVisit& visit);
/// The same for those that ask for TPUs.
void for_each_tpu_pod(const Json& object, const PodVisit& visit);

/// One warning for each pod or pod template within `object`, but no more than four, that asks for TPUs and selects an
/// accelerator that tpu/catalog.h does not know: a new one, whose pods are left to the scheduler, or a typing error.
/// Two more name a similar one, if there is one, and the known accelerators.
[[nodiscard]] std::vector<std::string> warn_unknown_accelerators(const Json& object);

/// The same for a pod that asks for TPUs.
[[nodiscard]] std::vector<std::string> warn_unknown_accelerator_of_pod(const Json& pod);

/// A warning for each pod or pod template within `object`, but no more than four, that selects nodes with TPUs, asks
/// for none and does not tolerate their taint: admission adds the toleration to pods that ask for TPUs, so this one
/// stays Pending.
[[nodiscard]] std::vector<std::string> warn_missing_tpu_requests(const Json& object);

/// A warning for each value of tpuslice.dev/slices-together, scale-up or teardown-grace-period-seconds that is not
/// supported, but no more than four, of pods and pod templates within `object` that ask for TPUs. Such a value is
/// treated as absent.
[[nodiscard]] std::vector<std::string> warn_invalid_annotations(const Json& object);

/// The same for a pod that asks for TPUs.
[[nodiscard]] std::vector<std::string> warn_invalid_annotations_of_pod(const Json& pod);

}  // namespace tpuslice::rules
