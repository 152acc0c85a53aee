// Deletion of Jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "controllers/jobset/child_jobs.h"
#include "controllers/jobset/job_builder.h"
#include "controllers/jobset/jobset_options.h"

namespace tpuslice::jobset {

struct JobDeletion {
  enum class Progress : std::uint8_t {
    kSuspend,     ///< Suspended before it is deleted.
    kDelete,      ///< Deleted after its pods.
    kOverlap,     ///< Deleted before its pods (restart_overlap.h).
    kForce,       ///< Terminating for too long: deleted without its pods.
    kTerminating  ///< Terminating for long enough to be reported.
  };
  JobPtr job;
  Progress progress = Progress::kDelete;
};

struct JobDeletions {
  std::vector<JobDeletion> jobs;
  std::optional<Duration> requeue_after;
};

/// Deletes the Jobs after their pods; before them if the restart may overlap (restart_overlap.h).
///
/// - A Job that will be replaced and has no active pod is suspended first, and deleted when the Job controller has set
///   its condition Suspended, or after options.suspend_timeout. Otherwise a sync that is creating its first pods can
///   leave expectations to the next Job of that name, which then gets no pods for five minutes (kubernetes#142142,
///   kubernetes#131917). A Job with an active pod cannot: docs/adr/0015.
/// - A Job that is terminating for options.deletion_timeout, for example because a pod is on a lost node, is deleted
///   without its pods, so that its replacement can be created.
///
/// `replacements` builds the Jobs that get the same names; null if there will be none.
[[nodiscard]] JobDeletions decide_deletions(const std::vector<JobPtr>& jobs, const JobSetSpec& spec,
                                            const JobBuilder* replacements, const Options& options, Timestamp now);

}  // namespace tpuslice::jobset
