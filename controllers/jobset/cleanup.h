// Clean-up of finished JobSets.
#pragma once

#include "controllers/jobset/job_deletion.h"
#include "controllers/jobset/jobset_state.h"

namespace tpuslice::jobset {

struct Cleanup {
  JobDeletions jobs;           ///< Deletion of the Jobs that are still active.
  bool delete_jobset = false;  ///< spec.ttlSecondsAfterFinished has passed.
  std::optional<Duration> requeue_after;
};

/// What spec.ttlSecondsAfterFinished asks for, of a JobSet that has finished: upstream's controller deletes those that
/// another controller manages, too. The Jobs of those are not changed.
[[nodiscard]] Cleanup expire_finished(const JobSetState& state);

/// Cleans up a JobSet that is Completed or Failed.
[[nodiscard]] Cleanup clean_up_finished(const JobSetState& state, const Options& options);

/// Gives the condition Completed or Failed the time `now` if its own is absent or malformed, so that
/// spec.ttlSecondsAfterFinished counts from then on.
void restore_finish_time(Json& conditions, Timestamp now);

}  // namespace tpuslice::jobset
