// Grace period of the hosts of a slice that cannot go on, since one of them was lost or failed.
//
// The annotation tpuslice.dev/teardown-grace-period-seconds of a pod says how long its containers may take to stop when
// its slice is torn down or restarted for that reason, in place of the pod's own grace period.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/types/views.h"

namespace tpuslice::tpu {

/// Value of the annotation. Nothing for 0 and for what is not a number: a pod that is deleted with a grace period of 0
/// is gone from the API before the kubelet has stopped its containers, so the nodes of its slice would look free while
/// processes still use their chips.
[[nodiscard]] std::optional<std::int64_t> parse_teardown_grace(std::string_view text);

/// Seconds with which to delete a pod of such a slice; nothing if its own grace period applies. Nothing for a pod that
/// the API server deletes without a grace period, as it has no node or is finished, nor for a terminating one: a
/// kubelet that stops containers does not heed a shorter grace period (kubernetes#83916).
[[nodiscard]] std::optional<std::int64_t> teardown_grace(const PodView& pod);

/// Whether the pod has failed, or is deleted because its node is not Ready or has a taint of effect NoExecute. A pod
/// that fails after its deletion does not count: it was asked to stop.
[[nodiscard]] bool is_lost_or_failed(const PodView& pod);

}  // namespace tpuslice::tpu
