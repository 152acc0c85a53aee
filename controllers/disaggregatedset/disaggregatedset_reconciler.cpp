#include "controllers/disaggregatedset/disaggregatedset_reconciler.h"

#include "controllers/disaggregatedset/disaggregatedset_plan.h"
#include "controllers/disaggregatedset/disaggregatedset_state.h"
#include "controllers/plan/whole.h"

namespace tpuslice::disaggregatedset {

Result<plan::Plan> DisaggregatedSetReconciler::plan(const plan::ReconcileInput& input) const {
  const runtime::ObjectStore::Ptr set = stores_.sets.get(input.key);
  if (set == nullptr) return plan::Plan{};
  if (auto waits = plan::wait_until_whole(input.key, set)) return *std::move(waits);
  DisaggregatedSetObserved seen{.set = set->object(),
                                .leader_worker_sets = stores_.leader_worker_sets_by_owner.lookup(set->uid),
                                .scalers = stores_.scalers_by_owner.lookup(set->uid),
                                .services = stores_.services_by_owner.lookup(set->uid),
                                .now = input.now,
                                .last_failure = input.last_failure};
  const ChildNames names = child_names(seen.set.spec());
  stores_.leader_worker_sets.add_missing(names.leader_worker_sets, seen.leader_worker_sets);
  stores_.scalers.add_missing(names.scalers, seen.scalers);
  stores_.services.add_missing(names.services, seen.services);
  if (auto waits = plan::wait_until_whole(input.key, seen.leader_worker_sets, seen.scalers, seen.services)) {
    return *std::move(waits);
  }
  return plan_disaggregatedset(seen);
}

}  // namespace tpuslice::disaggregatedset
