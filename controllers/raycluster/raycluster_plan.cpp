#include "controllers/raycluster/raycluster_plan.h"

#include "controllers/raycluster/decisions.h"
#include "controllers/raycluster/redis_cleanup/render.h"
#include "controllers/raycluster/render.h"
#include "controllers/raycluster/rules/validator.h"
#include "tpu/rules/refusal.h"

namespace tpuslice::raycluster {

plan::Plan plan_raycluster(const RayClusterObserved& seen, const Options& options) {
  const RayClusterState state(seen);
  if (seen.cluster.deletion_timestamp()) return render_deletion(state, decide_deletion(state, options));
  if (state.spec.managed_by_other()) return plan::Plan{};
  if (const Problem refusal =
          rules::refusal(rules::validate_stored_raycluster(seen.cluster), rules::unsupported_fields(state.spec))) {
    return render_refusal(state, refusal, decide_refused(state));
  }
  return render(state, decide(state, options));
}

}  // namespace tpuslice::raycluster
