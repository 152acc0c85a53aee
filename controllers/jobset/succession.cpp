#include "controllers/jobset/succession.h"

#include <algorithm>

#include "controllers/jobset/children.h"
#include "controllers/jobset/labels.h"

namespace tpuslice::jobset {
namespace {

/// The Job controller waits for no pod of which the name's next Job would not know.
bool is_settled(const JobView& job) { return is_ending(job) || is_ready(job); }

bool is_held_at_gate_of(const std::string& slice, const Json& job) {
  return string_at(job, {"spec", "template", "metadata", "labels", tpu::kSlice}) == slice &&
         std::ranges::any_of(array_at(job, {"spec", "template", "spec", "schedulingGates"}),
                             [](const Json& gate) { return string_at(gate, {"name"}) == tpu::kSliceGate; });
}

bool successor_waits_for(const JobView& job, const JobSetSpec& spec, const JobBuilder& successors) {
  const auto of = std::ranges::find(spec.jobs, replicated_job_of(job), &ReplicatedJob::name);
  const std::optional<int> index = index_of(job);
  if (of == spec.jobs.end() || !index || *index >= of->replicas) return false;
  if (job_name(spec, *of, *index) != job.key.name) return false;
  const Result<Json> successor = successors.build(static_cast<std::size_t>(of - spec.jobs.begin()), *index);
  return successor && is_held_at_gate_of(job.slice, *successor);
}

}  // namespace

bool may_go_before_its_pods(const JobView& job, const JobSetSpec& spec, const JobBuilder& successors) {
  const bool blocking = spec.failure && spec.failure->blocking;
  if (!spec.restart_at_failure_target || blocking || spec.suspended || job.suspended) return false;
  return !job.slice.empty() && is_settled(job) && successor_waits_for(job, spec, successors);
}

}  // namespace tpuslice::jobset
