#include "controllers/rayservice/rayservice_plan.h"

#include "controllers/rayservice/decisions.h"
#include "controllers/rayservice/rayservice_status.h"
#include "controllers/rayservice/render.h"
#include "controllers/rayservice/suspension.h"
#include "controllers/rayservice/validation.h"

namespace tpuslice::rayservice {

Result<plan::Plan> plan_rayservice(const RayServiceObserved& seen, const Options& options) {
  const RayServiceState state(seen);
  if (state.spec.managed_by_other()) return plan::Plan{};
  if (seen.service.deletion_timestamp()) return render_deletion(state);
  const Result<ServeConfig> config = parse_serve_config(state.spec.serve_config);
  const Problem refusal = check_spec(seen.service, config);
  const SuspendPhase phase = suspend_phase(state);
  if (phase != SuspendPhase::kRunning) return render_suspension(state, phase, refusal);
  if (has_timed_out(state)) return render_timed_out(state, refusal);
  return render(state, decide(state, refusal, config.value_or({}), options), refusal);
}

}  // namespace tpuslice::rayservice
