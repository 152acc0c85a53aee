// Options of the JobSet controller.
#pragma once

#include "api/base/clock.h"
#include "controllers/jobset/rules/jobset_rules.h"
#include "tpu/rules/pod_mutator.h"

namespace tpuslice::jobset {

struct Options {
  rules::MutationOptions mutation{.kinds = own_kinds()};  ///< Mutation of TPU pods.
  /// A Job that is terminating for this long is deleted without waiting for its pods, so that its name is free.
  Duration deletion_timeout = std::chrono::minutes(5);
  /// How long the deletion of a Job without pods waits for the Job controller to suspend it. Long enough for the Job
  /// controller to observe the change and for a sync that began before to create its first pod: two requests, of which
  /// the API server answers 99% within a second (Kubernetes' SLO), and client-side rate limiting.
  Duration suspend_timeout = std::chrono::seconds(5);
};

}  // namespace tpuslice::jobset
