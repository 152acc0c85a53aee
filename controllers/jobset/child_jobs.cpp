#include "controllers/jobset/child_jobs.h"

#include <algorithm>
#include <array>

#include "api/base/strings.h"
#include "controllers/jobset/rules/jobset_labels.h"

namespace tpuslice::jobset {
namespace {

/// The value of a label that the Job also has as an annotation.
const std::string& label_or_annotation(const JobView& job, std::string_view key) {
  const std::string& label = job.label(key);
  return label.empty() ? job.annotation(key) : label;
}

std::optional<int> number_of(const JobView& job, std::string_view key) {
  return parse_count(label_or_annotation(job, key));
}

/// A failed Job without an attempt counts as previous after a restart; otherwise it would cause restart after restart.
bool is_of_previous_attempt(const JobSetSpec& spec, const JobSetStatus& status, const JobView& job) {
  const auto before = [&](std::string_view key, int now) {
    const std::optional<int> attempt = number_of(job, key);
    return attempt ? *attempt < now : now > 0 && failure_condition(spec, job) != nullptr;
  };
  if (before(kRestartAttempt, status.restarts)) return true;
  const std::optional<int> index = index_of(job);
  return index && before(kJobRestartAttempt, status.restarts_of(replicated_job_of(job), *index));
}

/// Null if the labels name no replicated job of the spec.
ReplicatedJobStatus* status_of(const JobView& job, JobCounts& counts) {
  const auto found = counts.find(replicated_job_of(job));
  return found == counts.end() ? nullptr : &found->second;
}

bool is_target(const SuccessPolicy& policy, const std::string& job) {
  return policy.targets.empty() || std::ranges::count(policy.targets, job) > 0;
}

}  // namespace

std::string replicated_job_of(const JobView& job) { return label_or_annotation(job, kReplicatedJobName); }
std::optional<int> index_of(const JobView& job) { return number_of(job, kJobIndex); }

const JobCondition* failure_condition(const JobSetSpec& spec, const JobView& job) {
  if (const JobCondition* failed = job.condition("Failed"); failed != nullptr) return failed;
  return spec.restart_at_failure_target ? job.condition("FailureTarget") : nullptr;
}

bool is_finishing(const JobView& job) {
  static constexpr std::array kConditions = {"Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"};
  return std::ranges::any_of(kConditions, [&](const char* type) { return job.condition(type) != nullptr; });
}

namespace {

/// Number of pods that run at a time.
std::int32_t concurrent_pods(const JobView& job) {
  return std::min(job.parallelism, job.completions.value_or(job.parallelism));
}

}  // namespace

bool has_all_pods(const JobView& job) { return job.succeeded + job.active >= concurrent_pods(job); }

bool is_ready(const JobView& job) { return job.succeeded + job.ready >= concurrent_pods(job); }

ChildJobs classify_jobs(const JobSetSpec& spec, const JobSetStatus& status, const std::vector<JobPtr>& jobs) {
  ChildJobs out;
  for (const JobPtr& job : jobs) {
    out.names.insert(job->key.name);
    if (is_of_previous_attempt(spec, status, *job)) {
      out.previous.push_back(job);
    } else if (job->condition("Complete") != nullptr) {
      out.succeeded.push_back(job);
    } else if (failure_condition(spec, *job) != nullptr) {
      out.failed.push_back(job);
    } else {
      out.active.push_back(job);
    }
  }
  return out;
}

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

std::vector<JobResize> jobs_to_resize(const JobSetSpec& spec, const std::vector<JobPtr>& active) {
  std::vector<JobResize> out;
  for (const JobPtr& job : active) {
    const ReplicatedJob* desired = spec.find(replicated_job_of(*job));
    if (desired == nullptr || job->deletion || !desired->indexed) continue;
    if (desired->completions != desired->parallelism) continue;
    if (job->parallelism == desired->parallelism && job->completions == desired->completions) continue;
    out.push_back({job, desired});
  }
  return out;
}

}  // namespace tpuslice::jobset
