#include "controllers/disaggregatedset/disaggregatedset_plan.h"

#include <memory>

#include "controllers/disaggregatedset/decisions.h"
#include "controllers/disaggregatedset/render.h"
#include "controllers/disaggregatedset/rules/validator.h"
#include "tpu/rules/refusal.h"

namespace tpuslice::disaggregatedset {

plan::Plan plan_disaggregatedset(const DisaggregatedSetObserved& seen) {
  if (seen.set.deletion_timestamp()) return plan::Plan{};
  const DisaggregatedSetState state(seen);
  if (const Problem refusal = rules::refusal(rules::validate_disaggregatedset(seen.set.json(), nullptr))) {
    return render_refusal(state, refusal);
  }
  return render(state, decide(state), std::make_shared<const SetBuilder>(seen.set, state.revision));
}

}  // namespace tpuslice::disaggregatedset
