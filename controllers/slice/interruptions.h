// What is recorded of a slice whose pods a plan deletes. Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "controllers/plan/interruption.h"
#include "controllers/slice/slice.h"

namespace tpuslice::slice {

/// Why a slice is interrupted.
struct InterruptionCause {
  std::string_view what;
  std::string_view code;
  std::string why;
  PodPtr pod = nullptr;   ///< The pod that was lost first; null if that is not known.
  std::string pool = {};  ///< The domain of the slice, unless its pods say it.
};

/// The record of the slice that its started pods, or the lost one, belong to. One of size 0 is a single pod
/// (placement/preemption.h). Null if there is no such pod.
[[nodiscard]] std::shared_ptr<const plan::Interruption> interruption_of(const Slice& slice, InterruptionCause cause,
                                                                        Timestamp now);

}  // namespace tpuslice::slice
