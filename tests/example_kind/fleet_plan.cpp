#include "tests/example_kind/fleet_plan.h"

#include <memory>

#include "tests/example_kind/decisions.h"
#include "tests/example_kind/render.h"
#include "tests/example_kind/rules/validator.h"
#include "tpu/rules/refusal.h"

namespace tpuslice::example {

plan::Plan plan_fleet(const FleetObserved& seen, const Options& options) {
  if (seen.fleet.deletion_timestamp()) return plan::Plan{};
  const FleetState state(seen);
  if (const Problem refusal = rules::refusal(validate_stored_fleet(seen.fleet))) return render_refusal(state, refusal);
  return render(state, decide(state), std::make_shared<const PodBuilder>(seen.fleet, options));
}

}  // namespace tpuslice::example
