// Children: the Jobs of a JobSet, by what is to become of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "controllers/jobset/observed.h"
#include "controllers/jobset/spec.h"
#include "controllers/jobset/status.h"

namespace tpuslice::jobset {

struct Children {
  std::vector<JobPtr> previous;  ///< Of an attempt that is over: they have to go.
  std::vector<JobPtr> active;
  std::vector<JobPtr> succeeded;
  std::vector<JobPtr> failed;
  std::unordered_set<std::string_view> names;  ///< Of all of them.
};

/// A Job is of an earlier attempt if its labels say a smaller number than the status; a Job whose labels say none (they
/// were edited) is told by its annotations, which are the same. Where these say none either, it is of this attempt
/// until it fails after a restart.
[[nodiscard]] Children read_children(const JobSetSpec& spec, const JobSetStatus& status,
                                     const std::vector<JobPtr>& jobs);

/// The condition that says that the Job has failed, or, where spec.restart_at_failure_target says so, that it is bound
/// to; null if neither.
[[nodiscard]] const JobCondition* failure_of(const JobSetSpec& spec, const JobView& job);

/// Name of the replicated job, and the Job's index in it; nothing for what is no Job of a JobSet.
[[nodiscard]] std::string replicated_job_of(const JobView& job);
[[nodiscard]] std::optional<int> index_of(const JobView& job);

/// It has ended or is bound to: the Job controller makes no more pods for it.
[[nodiscard]] bool is_ending(const JobView& job);

/// As many pods are ready or have succeeded as there are at a time.
[[nodiscard]] bool is_ready(const JobView& job);

}  // namespace tpuslice::jobset
