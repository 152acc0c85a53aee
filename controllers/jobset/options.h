// Options of the JobSet controller.
#pragma once

#include "api/base/clock.h"
#include "webhook/rules/pod_mutator.h"

namespace tpuslice::jobset {

struct Options {
  webhook::MutationOptions mutation;  ///< Mutation of TPU pods.
  /// A Job that is terminating for this long is deleted without waiting for its pods, so that its name is free.
  Duration deletion_timeout = std::chrono::minutes(5);
  /// How long the deletion of a suspended Job waits for the Job controller to stop creating pods.
  Duration suspend_timeout = std::chrono::seconds(30);
};

}  // namespace tpuslice::jobset
