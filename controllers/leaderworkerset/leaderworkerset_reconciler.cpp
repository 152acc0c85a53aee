#include "controllers/leaderworkerset/leaderworkerset_reconciler.h"

#include <algorithm>
#include <utility>

#include "controllers/leaderworkerset/leaderworkerset_plan.h"
#include "controllers/leaderworkerset/spec.h"

namespace tpuslice::leaderworkerset {

Result<runtime::Plan> LeaderWorkerSetReconciler::plan(const runtime::ReconcileInput& input) const {
  const runtime::ObjectStore::Ptr set = stores_.sets.get(input.key);
  if (set == nullptr) return runtime::Plan{};
  const std::string labelled = "lws/" + input.key.to_string();
  LeaderWorkerSetObserved seen{set->object,
                               stores_.stateful_sets.lookup(labelled),
                               stores_.pods.lookup(labelled),
                               stores_.revisions.lookup("owner/" + set->uid),
                               {},
                               {},
                               input.now,
                               input.last_failure};
  const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(seen.set);
  const bool knows_leaders =
      std::ranges::any_of(seen.stateful_sets, [&](const StatefulSetPtr& known) { return known->key == input.key; });
  // Of the same name without the label: somebody else's.
  if (auto leaders = knows_leaders ? nullptr : stores_.stateful_sets.get(input.key)) {
    seen.stateful_sets.push_back(std::move(leaders));
  }
  const auto add_service = [&](const std::string& name) {
    if (auto service = stores_.services.get({input.key.namespace_name, name})) {
      seen.services.push_back(std::move(service));
    }
  };
  add_service(spec.key.name);
  for (const PodPtr& pod : seen.pods) {
    if (!group_of(spec, pod->key.name)) continue;
    add_service(pod->key.name);
    if (spec.topology_key.empty() || pod->node_name.empty()) continue;
    if (auto node = stores_.nodes.get({"", pod->node_name})) seen.nodes.push_back(std::move(node));
  }
  return plan_leaderworkerset(seen, options_);
}

}  // namespace tpuslice::leaderworkerset
