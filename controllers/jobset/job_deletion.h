// Deletion of Jobs. Restarts may overlap: the replacement of a Job is created while pods of the Job terminate.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/types/views.h"
#include "controllers/jobset/child_jobs.h"
#include "controllers/jobset/job_builder.h"
#include "controllers/jobset/jobset_options.h"
#include "controllers/jobset/rules/spec.h"

namespace tpuslice::jobset {

/// Whether the Job may be deleted before its pods (spec.restart_at_failure_target). Quota must cover the pods of both
/// Jobs. All of these must hold:
///
/// - the pods of the replacement are gated and belong to the slice of the Job's pods, so the slice controllers release
///   them only after all of those are deleted;
/// - the Job creates no more pods, or all of them are ready: the replacement inherits no expectations of the Job
///   controller (kubernetes#142142, kubernetes#131917; docs/adr/0015 describes the remaining race);
/// - neither the Job nor the JobSet is suspended: a user who suspends waits until the pods are deleted.
///
/// `replacements` builds the Jobs of the next attempt.
[[nodiscard]] bool may_overlap_restart(const JobView& job, const JobSetSpec& spec, const JobBuilder& replacements);

struct JobDeletion {
  enum class Progress : std::uint8_t {
    kSuspend,     ///< Suspended before it is deleted.
    kDelete,      ///< Deleted after its pods.
    kOverlap,     ///< Deleted before its pods: may_overlap_restart().
    kForce,       ///< Terminating for too long: deleted without its pods.
    kTerminating  ///< Terminating for long enough to be reported.
  };
  JobPtr job;
  Progress progress = Progress::kDelete;
  std::vector<PodPtr> pods = {};  ///< Deleted just before the Job, with their tpu::teardown_grace().
};

struct JobDeletions {
  std::vector<JobDeletion> jobs;
  std::optional<Duration> requeue_after;
};

/// Deletes the Jobs after their pods; before them if the restart may overlap.
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

/// Puts those of `pods` that run for a Job into its deletion. An attempt ends because a host was lost or failed, so the
/// other slices of the JobSet cannot go on either. The garbage collector would give their pods the pods' own grace
/// period, which cannot be shortened later. The Job controller replaces none of them: it handles events of pods a
/// second later, when the Job is being deleted.
///
/// `pods` have a tpu::teardown_grace().
void add_pods(JobDeletions& deletions, const std::vector<PodPtr>& pods);

}  // namespace tpuslice::jobset
