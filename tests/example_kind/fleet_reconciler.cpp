#include "tests/example_kind/fleet_reconciler.h"

#include "controllers/plan/whole.h"
#include "tests/example_kind/fleet_plan.h"

namespace tpuslice::example {

Result<plan::Plan> FleetReconciler::plan(const plan::ReconcileInput& input) const {
  const runtime::ObjectStore::Ptr fleet = stores_.fleets.get(input.key);
  if (fleet == nullptr) return plan::Plan{};
  if (auto waits = plan::wait_until_whole(input.key, fleet)) return *std::move(waits);
  const FleetObserved seen{fleet->object(),
                           stores_.pods_by_owner.lookup(fleet->uid),
                           stores_.services.get(input.key),
                           stores_.config_maps.get({input.key.namespace_name, flag_name(input.key.name)}),
                           input.now,
                           input.last_failure};
  if (auto waits = plan::wait_until_whole(input.key, seen.pods, seen.service)) return *std::move(waits);
  return plan_fleet(seen, options_);
}

}  // namespace tpuslice::example
