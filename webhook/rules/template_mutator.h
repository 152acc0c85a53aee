// Template mutation: what pod_mutator.h makes of each pod of a Job, put into the Job's pod template before the Job is
// created, so that its pods need no admission. Pure.
//
//   ASSIGN_OR_RETURN(const bool born_right, webhook::mutate_job_template(job, options));
//   plan.create(std::move(job));  // Where it is false, the pods are admitted by the webhook, to the same effect.
#pragma once

#include "webhook/rules/pod_mutator.h"

namespace tpuslice::webhook {

/// Gives the pod template of `job`, a batch/v1 Job of a JobSet as it is about to be created (with name and namespace,
/// the template with JobSet's labels and annotations), all that mutate_pod() would give each of its pods, and marks it
/// with the annotation tpuslice.dev/born. TPU_WORKER_ID comes through the downward API; tpuslice.dev/slice-host, which
/// differs by pod, is left out: it is the completion index. A second application changes nothing.
///
/// False, and the template as it was but for a mark that it had no right to, where a template cannot say it: the pods
/// ask for no TPU or are no hosts of a slice; the Job is not exactly one slice, all of it started at once; a host is
/// several processes, whose ids no field of the pod is.
///
/// Errors: those of mutate_pod(); the Job is unchanged then.
[[nodiscard]] Result<bool> mutate_job_template(Json& job, const MutationOptions& options);

}  // namespace tpuslice::webhook
