// The plan of a JobSet: from what was observed to what is to be done. Pure.
#pragma once

#include "controllers/jobset/observed.h"
#include "controllers/jobset/options.h"

namespace tpuslice::jobset {

/// Stages: deletes; service and volume claims; Jobs, all replicated jobs at once. Then the status, as it was before
/// these writes.
///
/// As upstream, but for the first two, in this order: Jobs of earlier attempts are deleted; a JobSet that has ended is
/// cleaned up; failed Jobs are a matter of the failure policy, and of nothing else in that plan; then success, and what
/// is missing.
///
/// Empty for a JobSet that is being deleted (its children go with it) or that spec.managedBy gives to another
/// controller. A spec that is invalid, or uses what this program does not serve, is not carried out: its status and a
/// Warning event say why, and Jobs that exist go on.
[[nodiscard]] Result<runtime::Plan> plan_jobset(const JobSetObserved& seen, const Options& options);

}  // namespace tpuslice::jobset
