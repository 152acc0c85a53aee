// RayJobState: what the parts of the planner of a RayJob decide from, derived from one observation.
#pragma once

#include "api/types/conditions.h"
#include "controllers/rayjob/observed.h"
#include "controllers/rayjob/rayjob_options.h"
#include "controllers/rayjob/rayjob_status.h"
#include "controllers/rayjob/rules/spec.h"

namespace tpuslice::rayjob {

/// Borrows from observation and options.
struct RayJobState {
  RayJobState(const RayJobObserved& observed, const Options& all_options);

  const RayJobObserved& seen;
  const Options& options;
  const RayJobSpec& spec;
  const RayJobStatus status;  ///< The status as observed, before this plan.
  /// Why the spec is not carried out. A RayJob that has begun is followed to its end, but no child is created for it.
  const Problem refusal;
  /// Submission mode of the attempt, as the label of its cluster says; that of the spec while there is none, and for a
  /// cluster that spec.clusterSelector names.
  const SubmissionMode mode;

  /// The observed cluster, unless it is another owner's that has the name of ours, or is being deleted; else null.
  [[nodiscard]] const ObjectView* usable_cluster() const;
  /// The cluster is controlled by this RayJob.
  [[nodiscard]] bool owns_cluster() const;
  /// The Job is controlled by this RayJob.
  [[nodiscard]] bool owns_submitter() const;
};

}  // namespace tpuslice::rayjob
