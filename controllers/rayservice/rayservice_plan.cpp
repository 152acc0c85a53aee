#include "controllers/rayservice/rayservice_plan.h"

#include "controllers/rayservice/decisions.h"
#include "controllers/rayservice/render.h"
#include "controllers/rayservice/validation.h"

namespace tpuslice::rayservice {

Result<plan::Plan> plan_rayservice(const RayServiceObserved& seen, const Options& options) {
  const RayServiceState state(seen);
  if (state.spec.managed_by_other()) return plan::Plan{};
  const Result<ServeConfig> config = parse_serve_config(state.spec.serve_config);
  return render(state, decide(state, check_spec(seen.service, config), config.value_or({}), options));
}

}  // namespace tpuslice::rayservice
