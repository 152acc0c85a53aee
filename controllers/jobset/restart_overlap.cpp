#include "controllers/jobset/restart_overlap.h"

#include <algorithm>

#include "controllers/jobset/child_jobs.h"
#include "controllers/jobset/rules/jobset_labels.h"

namespace tpuslice::jobset {
namespace {

/// The Job controller expects no more pod creations.
bool has_no_pending_pods(const JobView& job) { return is_finishing(job) || is_ready(job); }

const std::string& slice_of(const JobView& job) { return value_of(job.template_labels, tpu::kSlice); }

bool is_gated_in_slice(const std::string& slice, const Json& job) {
  return string_at(job, {"spec", "template", "metadata", "labels", tpu::kSlice}) == slice &&
         std::ranges::any_of(array_at(job, {"spec", "template", "spec", "schedulingGates"}),
                             [](const Json& gate) { return string_at(gate, {"name"}) == tpu::kSliceGate; });
}

bool replacement_waits_for(const JobView& job, const JobSetSpec& spec, const JobBuilder& replacements) {
  const auto of = std::ranges::find(spec.jobs, replicated_job_of(job), &ReplicatedJob::name);
  const std::optional<int> index = index_of(job);
  if (of == spec.jobs.end() || !index || *index >= of->replicas) return false;
  if (job_name(spec, *of, *index) != job.key.name) return false;
  const Result<Json> replacement = replacements.build(static_cast<std::size_t>(of - spec.jobs.begin()), *index);
  return replacement && is_gated_in_slice(slice_of(job), *replacement);
}

}  // namespace

bool may_overlap_restart(const JobView& job, const JobSetSpec& spec, const JobBuilder& replacements) {
  const bool blocking = spec.failure && spec.failure->blocking;
  if (!spec.restart_at_failure_target || blocking || spec.suspended || job.suspended) return false;
  return !slice_of(job).empty() && has_no_pending_pods(job) && replacement_waits_for(job, spec, replacements);
}

}  // namespace tpuslice::jobset
