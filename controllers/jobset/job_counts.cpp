#include "controllers/jobset/job_counts.h"

namespace tpuslice::jobset {
namespace {

/// Null if the labels name no replicated job of the spec.
ReplicatedJobStatus* status_of(const JobView& job, JobCounts& counts) {
  const auto found = counts.find(replicated_job_of(job));
  return found == counts.end() ? nullptr : &found->second;
}

}  // namespace

JobCounts count_jobs(const JobSetSpec& spec, const ChildJobs& children, const JobSetStatus& before) {
  JobCounts counts;
  for (const ReplicatedJob& job : spec.jobs) {
    ReplicatedJobStatus& status = counts[job.name];
    if (const auto found = before.jobs.find(job.name); found != before.jobs.end()) {
      status.restarts = found->second.restarts;
      status.counted_restarts = found->second.counted_restarts;
    }
  }
  for (const JobPtr& job : children.active) {
    ReplicatedJobStatus* status = status_of(*job, counts);
    if (status == nullptr) continue;
    if (is_ready(*job)) ++status->ready;
    if (job->active > 0) ++status->active;
    if (job->suspended) ++status->suspended;
  }
  for (const JobPtr& job : children.succeeded) {
    if (ReplicatedJobStatus* status = status_of(*job, counts); status != nullptr) ++status->succeeded;
  }
  for (const JobPtr& job : children.failed) {
    if (ReplicatedJobStatus* status = status_of(*job, counts); status != nullptr) ++status->failed;
  }
  return counts;
}

bool all_ready(const JobSetSpec& spec, const JobCounts& counts) {
  std::int64_t ready = 0;
  for (const auto& [name, job] : counts) ready += job.ready + job.succeeded;
  return ready == spec.total_replicas();
}

}  // namespace tpuslice::jobset
