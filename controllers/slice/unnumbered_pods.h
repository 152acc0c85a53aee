// Pods of Jobs that use nodes of a multi-host slice without slice identity: they run, but do not find each other, since
// they get no TPU_WORKER_ID. Admission warns the client that creates them, which is the Job controller. Pure.
#pragma once

#include <optional>

#include "controllers/plan/plan.h"
#include "controllers/slice/slice.h"

namespace tpuslice::slice {

/// How long after its creation an event is sent for such a pod: a new leader does not send those of the past again.
inline constexpr Duration kUnnumberedPodPeriod = std::chrono::minutes(1);

/// A live pod of a Job that admission gave no slice identity, and whose nodes belong to a multi-host slice.
[[nodiscard]] bool is_unnumbered(const PodView& pod);

/// An event `SliceIdentityMissing` about the Job, the same for each of its pods: the recorder counts them in one
/// series.
[[nodiscard]] plan::Plan plan_unnumbered_pod(const PodView& pod, Timestamp now);

}  // namespace tpuslice::slice
