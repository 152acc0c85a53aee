#include "controllers/rayjob/rayjob_plan.h"

#include "controllers/rayjob/decisions.h"
#include "controllers/rayjob/deletion.h"
#include "controllers/rayjob/render.h"

namespace tpuslice::rayjob {

plan::Plan plan_rayjob(const RayJobObserved& seen, const Options& options) {
  const RayJobState state(seen, options);
  if (state.spec.managed_by_other()) return plan::Plan{};
  if (seen.job.deletion_timestamp()) return render_deletion(state, decide_deletion(state));
  return render(state, decide(state));
}

}  // namespace tpuslice::rayjob
