// What the JobSet controller may be told.
#pragma once

#include "api/base/clock.h"
#include "webhook/rules/pod_mutator.h"

namespace tpuslice::jobset {

struct Options {
  webhook::MutationOptions mutation;  ///< Of TPU pods.
  /// A Job that is still being deleted after so long gives its name free; its pods go when they can.
  Duration stuck_after = std::chrono::minutes(5);
  /// A Job whose pods are still being created is not deleted before the Job controller has stopped, or so long.
  Duration quiet_within = std::chrono::seconds(30);
};

}  // namespace tpuslice::jobset
