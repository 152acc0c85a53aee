// ChildJobs: the Jobs of a JobSet, classified by attempt and state; their number in each state; the success policy,
// which counts them; and which of them change their size.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "controllers/jobset/jobset_status.h"
#include "controllers/jobset/observed.h"
#include "controllers/jobset/rules/spec.h"

namespace tpuslice::jobset {

struct ChildJobs {
  std::vector<JobPtr> previous;  ///< Jobs of a previous restart attempt; to be deleted.
  std::vector<JobPtr> active;
  std::vector<JobPtr> succeeded;
  std::vector<JobPtr> failed;
  std::unordered_set<std::string_view> names;  ///< Names of all of them.
};

/// A Job belongs to a previous attempt if the attempt in its labels is smaller than the one in the status. The
/// annotations hold the same values and are read where labels were removed. A Job with neither belongs to the current
/// attempt until it fails after a restart.
[[nodiscard]] ChildJobs classify_jobs(const JobSetSpec& spec, const JobSetStatus& status,
                                      const std::vector<JobPtr>& jobs);

/// The Job's condition Failed, or FailureTarget if spec.restart_at_failure_target is set; null if it has not failed.
[[nodiscard]] const JobCondition* failure_condition(const JobSetSpec& spec, const JobView& job);

/// Name of the replicated job, and the Job's index in it; empty if the Job does not say.
[[nodiscard]] std::string replicated_job_of(const JobView& job);
[[nodiscard]] std::optional<int> index_of(const JobView& job);

/// Finished, or about to be: the Job controller creates no more pods for it.
[[nodiscard]] bool is_finishing(const JobView& job);

/// All pods that run at a time exist or have succeeded.
[[nodiscard]] bool has_all_pods(const JobView& job);

/// All pods that run at a time are ready or have succeeded.
[[nodiscard]] bool is_ready(const JobView& job);

/// Counts the Jobs of the current attempt. The restarts of single Jobs are those of `before`.
[[nodiscard]] JobCounts count_jobs(const JobSetSpec& spec, const ChildJobs& children, const JobSetStatus& before);

/// All replicas of all replicated jobs are ready or have succeeded.
[[nodiscard]] bool all_ready(const JobSetSpec& spec, const JobCounts& counts);

/// Whether one Job of the policy's targets (operator Any) or all of them have succeeded.
[[nodiscard]] bool has_succeeded(const JobSetSpec& spec, const ChildJobs& children);

struct JobResize {
  JobPtr job;
  const ReplicatedJob* replicated_job = nullptr;  ///< Has the new size.
};

/// Elastic Jobs: the Jobs whose parallelism and completions follow those of the JobSet. Upstream resizes them only if
/// parallelism and completions are equal in the JobSet; admission rejects other changes.
[[nodiscard]] std::vector<JobResize> jobs_to_resize(const JobSetSpec& spec, const std::vector<JobPtr>& active);

}  // namespace tpuslice::jobset
