// What the slice controller wrote on pods of slices that wait, told for the workload that they belong to.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "api/types/views.h"

namespace tpuslice::tpu {

/// Ours: a condition, False, of a workload some of whose slices wait for nodes; not there otherwise.
inline constexpr std::string_view kSlicesPlaced = "tpuslice.dev/SlicesPlaced";

/// Sets that condition, or takes it away, by the pods' annotation kWaiting. The first few slices are named, each with
/// why.
void tell_waiting(const std::vector<std::shared_ptr<const PodView>>& pods, std::int64_t generation, Timestamp now,
                  Json& conditions);

}  // namespace tpuslice::tpu
