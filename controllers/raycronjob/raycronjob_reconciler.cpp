#include "controllers/raycronjob/raycronjob_reconciler.h"

#include "controllers/plan/whole.h"
#include "controllers/raycronjob/raycronjob_plan.h"
#include "controllers/raycronjob/runs.h"

namespace tpuslice::raycronjob {

Result<plan::Plan> RayCronJobReconciler::plan(const plan::ReconcileInput& input) const {
  const runtime::ObjectStore::Ptr cron_job = stores_.cron_jobs.get(input.key);
  if (cron_job == nullptr) return plan::Plan{};
  if (auto waits = plan::wait_until_whole(input.key, cron_job)) return *std::move(waits);
  RayCronJobObserved seen{.cron_job = cron_job->object(), .now = input.now, .last_failure = input.last_failure};
  const RayCronJobSpec& spec = seen.cron_job.spec();
  const Runs runs = find_runs(spec, last_schedule_time(seen.cron_job), input.now, options_);
  // Only its name and owner are read, which a minimal view has, too.
  if (runs.due) seen.run = stores_.jobs.get({input.key.namespace_name, run_name(spec, *runs.due)});
  return plan_raycronjob(seen, options_);
}

}  // namespace tpuslice::raycronjob
