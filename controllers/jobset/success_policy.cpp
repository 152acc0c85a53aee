#include "controllers/jobset/success_policy.h"

#include <algorithm>

namespace tpuslice::jobset {
namespace {

bool is_target(const SuccessPolicy& policy, const std::string& job) {
  return policy.targets.empty() || std::ranges::count(policy.targets, job) > 0;
}

}  // namespace

bool has_succeeded(const JobSetSpec& spec, const ChildJobs& children) {
  // Upstream counts targets without Jobs as succeeded, but only once some Job has.
  if (children.succeeded.empty()) return false;
  const auto done = std::ranges::count_if(
      children.succeeded, [&](const JobPtr& job) { return is_target(spec.success, replicated_job_of(*job)); });
  if (spec.success.any) return done > 0;
  std::int64_t wanted = 0;
  for (const ReplicatedJob& job : spec.jobs) wanted += is_target(spec.success, job.name) ? job.replicas : 0;
  return done >= wanted;
}

}  // namespace tpuslice::jobset
