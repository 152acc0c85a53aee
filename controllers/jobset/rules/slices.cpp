#include <fmt/format.h>

#include "controllers/jobset/rules/validator_parts.h"
#include "tpu/rules/tpu_rules.h"
#include "tpu/slice_shape.h"

namespace tpuslice::rules {
namespace {

using Errors = FieldErrors;

/// Advice for a Job that should be a slice of `hosts` hosts. Jobs of one pod may be meant as the hosts of slices.
std::string size_advice(const ReplicatedJob& job, int hosts) {
  const bool is_split = job.parallelism == 1 && job.replicas > 1 && job.replicas % hosts == 0;
  return fmt::format("set parallelism and completions: {}{}", hosts,
                     is_split ? fmt::format(", and replicas: {}", job.replicas / hosts) : "");
}

/// A Job that is a slice of `hosts` hosts. Worker ids are completion indexes.
void check_slice_job(const ReplicatedJob& job, int hosts, Errors& errors) {
  const Json* completions = find_set(*job.json, {"template", "spec", "completions"});
  if (completions == nullptr) {
    errors.push_back(required_value(job.job_path("completions"),
                                    fmt::format("a slice of {0} hosts needs completions: {0}", hosts), kOurRule));
  } else if (job.completions && *job.completions != hosts) {
    errors.push_back(invalid_value(
        job.job_path("completions"), *completions,
        fmt::format("a slice of {0} hosts needs {0} pods at a time: set parallelism and completions: {0}", hosts),
        kOurRule));
  }
  if (!job.indexed) {
    errors.push_back(invalid_value(job.job_path("completionMode"), "NonIndexed",
                                   "host indexes are completion indexes: set Indexed", kGkeRule));
  }
}

}  // namespace

void check_jobset_slices(const JobSetSpec& spec, Errors& errors) {
  for (const ReplicatedJob& job : spec.jobs) {
    if (job.pod_template == nullptr) continue;
    HostsField hosts;
    hosts.path = job.job_path("parallelism");
    hosts.found = job.parallelism;
    hosts.pods = job.parallelism;
    hosts.advice = [&job](int count) { return size_advice(job, count); };
    hosts.many_single_hosts = true;
    hosts.needs_node_selector = !spec.suspended;  // Kueue sets them when it admits the JobSet.
    check_tpu_pod(*job.pod_template, job.job_path("template"), hosts, errors);
    const auto count = tpu::selected_hosts(*job.pod_template);
    if (count && *count > 1) check_slice_job(job, *count, errors);
  }
}

}  // namespace tpuslice::rules
