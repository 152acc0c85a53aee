#include "controllers/jobset/startup_policy.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "tpu/rules/limits.h"

namespace tpuslice::jobset {
namespace {

using Order = StartupDecision::Order;

ReplicatedJobStatus counts_of(const JobCounts& counts, const std::string& job) {
  const auto found = counts.find(job);
  return found == counts.end() ? ReplicatedJobStatus() : found->second;
}

/// The dependency that the job waits for; empty if there is none.
std::string unmet_dependency(const JobSetSpec& spec, const ReplicatedJob& job, const JobCounts& counts) {
  for (const Dependency& dependency : job.depends_on) {
    const ReplicatedJob* other = spec.find(dependency.name);
    const std::int64_t wanted = other == nullptr ? 0 : other->replicas;
    const ReplicatedJobStatus status = counts_of(counts, dependency.name);
    const int reached = dependency.complete ? status.succeeded : status.started();
    if (reached == wanted) continue;
    return fmt::format("replicated job {} waits for {} to be {}: {} of {} jobs are", job.name, dependency.name,
                       dependency.complete ? "Complete" : "Ready", reached, wanted);
  }
  return {};
}

}  // namespace

StartupDecision decide_startup(const JobSetSpec& spec, const JobCounts& counts) {
  StartupDecision out;
  const bool ordered = spec.in_order && !spec.suspended;
  if (ordered) out.order = Order::kComplete;
  for (const ReplicatedJob& job : spec.jobs) {
    if (std::string unmet = unmet_dependency(spec, job, counts); !unmet.empty()) {
      out.waits.push_back({"DependsOn", std::move(unmet)});
      continue;
    }
    const int started = counts_of(counts, job.name).started();
    if (ordered && started == job.replicas) continue;
    out.may_start.push_back(&job);
    if (!ordered) continue;
    out.order = Order::kInProgress;
    if (&job != &spec.jobs.back()) {
      out.waits.push_back(
          {"StartupPolicy", fmt::format("replicated jobs after {} wait for it to be ready: {} of {} jobs are", job.name,
                                        started, job.replicas)});
    }
    break;
  }
  return out;
}

Result<std::vector<NewJob>> missing_jobs(const JobSetSpec& spec, const ChildJobs& children,
                                         const StartupDecision& startup, const JobBuilder& builder) {
  std::vector<NewJob> out;
  for (const ReplicatedJob* job : startup.may_start) {
    const auto position = static_cast<std::size_t>(job - spec.jobs.data());
    bool checked = false;
    for (int index = 0; index < job->replicas; ++index) {
      if (out.size() >= rules::kMaxCreatesPerPlan) return out;
      if (children.names.contains(job_name(spec, *job, index))) continue;
      // A template error affects all Jobs of a replicated job, so building one finds it.
      if (!checked) RETURN_IF_ERROR(builder.build(position, index));
      checked = true;
      out.push_back({position, index});
    }
  }
  return out;
}

}  // namespace tpuslice::jobset
