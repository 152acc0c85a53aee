// Succession: when the Job that takes a Job's name at a restart may come before the Job's pods are gone.
#pragma once

#include "api/types/views.h"
#include "controllers/jobset/job_builder.h"
#include "controllers/jobset/spec.h"

namespace tpuslice::jobset {

/// The Job may go before its pods, where a restart has to be fast (spec.restart_at_failure_target): there has to be
/// quota, of chips too, for the pods of both at once. So that nothing runs twice and nothing waits in vain,
///
/// - the successor's pods wait at the gate of the slice that the Job's own pods are in, and the slice controller lets
///   none go before all of these are gone;
/// - the Job makes no pods any more, or all of them have been seen ready, so no count of expected pods is left to its
///   successor (kubernetes#142142, kubernetes#131917; docs/adr/0015 says what moment is left);
/// - neither it nor its JobSet is suspended: who does that waits for the pods to be gone.
///
/// `successors` makes the Jobs of the attempt to come.
[[nodiscard]] bool may_go_before_its_pods(const JobView& job, const JobSetSpec& spec, const JobBuilder& successors);

}  // namespace tpuslice::jobset
