// Why pods do not run yet, told for the workload that they belong to.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "api/types/views.h"

namespace tpuslice::tpu {

/// Ours: a condition, False, of a workload some of whose slices wait for nodes; not there otherwise.
inline constexpr std::string_view kSlicesPlaced = "tpuslice.dev/SlicesPlaced";
/// Ours: a condition, False, of a workload that has containers which cannot start, for want of their image or of what
/// they refer to, or which end as soon as they do; not there otherwise.
inline constexpr std::string_view kContainersStarted = "tpuslice.dev/ContainersStarted";

/// Sets those conditions, or takes them away: by what the slice controller wrote on pods (annotation kWaiting), and by
/// what the kubelet says of their containers. The first few slices and pods are named, each with why.
void tell_waiting(const std::vector<std::shared_ptr<const PodView>>& pods, std::int64_t generation, Timestamp now,
                  Json& conditions);

/// Whether there is something to tell of the pod.
[[nodiscard]] bool is_waiting(const PodView& pod);

}  // namespace tpuslice::tpu
