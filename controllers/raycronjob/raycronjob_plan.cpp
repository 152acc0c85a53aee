#include "controllers/raycronjob/raycronjob_plan.h"

#include "controllers/raycronjob/decisions.h"
#include "controllers/raycronjob/render.h"

namespace tpuslice::raycronjob {

plan::Plan plan_raycronjob(const RayCronJobObserved& seen, const Options& options) {
  if (seen.cron_job.deletion_timestamp()) return plan::Plan{};
  const RayCronJobState state(seen, options);
  return state.refusal ? render_refusal(state) : render(state, decide(state));
}

}  // namespace tpuslice::raycronjob
