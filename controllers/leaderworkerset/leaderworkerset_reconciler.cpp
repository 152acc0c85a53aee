#include "controllers/leaderworkerset/leaderworkerset_reconciler.h"

#include <utility>

#include "controllers/leaderworkerset/adoption.h"
#include "controllers/leaderworkerset/leaderworkerset_plan.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "controllers/plan/whole.h"

namespace tpuslice::leaderworkerset {

Result<plan::Plan> LeaderWorkerSetReconciler::plan(const plan::ReconcileInput& input) const {
  const runtime::ObjectStore::Ptr set = stores_.sets.get(input.key);
  if (set == nullptr) return plan::Plan{};
  if (auto waits = plan::wait_until_whole(input.key, set)) return *std::move(waits);
  const std::string key = input.key.to_string();
  LeaderWorkerSetObserved seen{.set = set->object(),
                               .stateful_sets = stores_.stateful_sets_by_set.lookup(key),
                               .pods = stores_.pods_by_set.lookup(key),
                               .revisions = stores_.revisions_by_owner.lookup(set->uid),
                               .now = input.now,
                               .last_failure = input.last_failure,
                               .answers = stores_.events.answers({name(), input.key})};
  const LeaderWorkerSetSpec& spec = seen.set.spec();
  for (ObjectPtr& revision : stores_.revisions_by_set.lookup(key)) {
    if (is_orphaned_revision(*revision)) seen.revisions.push_back(std::move(revision));
  }
  // A StatefulSet with the set's name but without the label is not ours.
  stores_.stateful_sets.add_missing({input.key}, seen.stateful_sets);
  const auto add_service = [&](const std::string& name) {
    if (auto service = stores_.services.get({input.key.namespace_name, name})) {
      seen.services.push_back(std::move(service));
    }
  };
  add_service(spec.key.name);
  for (const PodPtr& pod : seen.pods) {
    if (!parse_group_index(spec, pod->key.name)) continue;
    add_service(pod->key.name);
    if (spec.topology_key.empty() || pod->node_name.empty()) continue;
    if (auto node = stores_.nodes.get({"", pod->node_name})) seen.nodes.push_back(std::move(node));
  }
  if (auto waits = plan::wait_until_whole(input.key, seen.stateful_sets, seen.pods, seen.revisions, seen.services)) {
    return *std::move(waits);
  }
  return plan_leaderworkerset(seen, options_);
}

}  // namespace tpuslice::leaderworkerset
