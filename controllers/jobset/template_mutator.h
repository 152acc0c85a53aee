// Template mutation: applies tpu/rules/pod_mutator.h to the pod template of a Job before the Job is created, so that
// its pods need no admission. Pure.
//
//   ASSIGN_OR_RETURN(const bool mutated, mutate_job_template(job, options));
//   plan.create(std::move(job));  // If false, the webhook mutates each pod, with the same result.
#pragma once

#include "tpu/rules/pod_mutator.h"

namespace tpuslice::jobset {

/// Gives the pod template of `job` all that mutate_pod() would give each of its pods, and sets the annotation
/// tpuslice.dev/mutated-by. `job` is a batch/v1 Job of a JobSet as it is about to be created: with name, namespace, and
/// JobSet's labels and annotations on the template. TPU_WORKER_ID refers to the completion index by the downward API;
/// tpuslice.dev/slice-host is omitted, as the completion index is the host index. A second application changes nothing.
///
/// False if a template cannot express it, without other changes than removing a wrong tpuslice.dev/mutated-by: the pods
/// ask for no TPUs or are not hosts of a slice; the Job is not exactly one slice with all pods started at once; or a
/// host has several processes, whose ids are in no field of the pod.
///
/// Errors: those of mutate_pod(); the Job is unchanged then.
[[nodiscard]] Result<bool> mutate_job_template(Json& job, const rules::MutationOptions& options);

}  // namespace tpuslice::jobset
