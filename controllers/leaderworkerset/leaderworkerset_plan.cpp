#include "controllers/leaderworkerset/leaderworkerset_plan.h"

#include "controllers/leaderworkerset/adoption.h"
#include "controllers/leaderworkerset/decisions.h"
#include "controllers/leaderworkerset/render.h"
#include "controllers/leaderworkerset/rules/validator.h"
#include "controllers/plan/child.h"
#include "tpu/rules/refusal.h"

namespace tpuslice::leaderworkerset {

plan::Plan plan_leaderworkerset(const LeaderWorkerSetObserved& seen, const Options& options) {
  if (seen.set.deletion_timestamp()) return plan::Plan{};
  if (const Problem refusal = rules::refusal(rules::validate_stored_leaderworkerset(seen.set))) {
    return render_refusal(seen, refusal, decide_refused(seen));
  }
  if (const StatefulSetView* const leader_set = find_leader_set(seen)) {
    if (leader_set->deletion) return plan::Plan{};  // Created again after its deletion.
    if (is_orphaned_leader_set(seen.set.spec(), *leader_set)) return plan_adoption(seen, *leader_set);
    const plan::Ownership ownership = plan::ownership(seen.set.spec().owner, leader_set->controller);
    if (ownership != plan::Ownership::kOwned) return render_conflict(seen, *leader_set, ownership);
  }
  const LeaderWorkerSetState state(seen);
  return render(state, decide(state, options));
}

}  // namespace tpuslice::leaderworkerset
