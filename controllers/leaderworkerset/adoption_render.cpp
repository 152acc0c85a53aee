#include <string>
#include <utility>

#include <fmt/format.h>

#include "controllers/leaderworkerset/adoption.h"
#include "controllers/leaderworkerset/events.h"
#include "controllers/leaderworkerset/leaderworkerset_status.h"
#include "controllers/plan/changes.h"

namespace tpuslice::leaderworkerset {

plan::Plan plan_adoption(const LeaderWorkerSetObserved& seen, const StatefulSetView& leader_set) {
  enum class Step : std::uint8_t { kCheck, kAdoptions };
  const LeaderWorkerSetSpec& spec = seen.set.spec();
  plan::Changes changes;
  changes.add(Step::kCheck, check_set(seen));
  changes.stage(Step::kAdoptions).independent = true;
  for (const ObjectPtr& revision : seen.revisions) {
    if (is_orphaned_revision(*revision)) changes.add(Step::kAdoptions, adopt_revision(spec, *revision));
  }
  plan::Action action = plan::Action::patch(kStatefulSets, leader_set.key, adoption_patch(spec.owner),
                                            {.uid = leader_set.uid, .resource_version = leader_set.resource_version});
  action.failure_reason = kFailedUpdate;
  plan::ActionEvents events;
  events.on_failure = {write_failed(spec, action, nullptr)};
  changes.add(Step::kAdoptions, std::move(action), std::move(events));
  changes.reasons.push_back(fmt::format("StatefulSet {} has no owner: adopting it", leader_set.key.name));
  const Json before = plan::status_of(seen.set);
  Json status = before;
  if (seen.last_failure) {
    status = blocked_status(before, spec, {std::string(kFailedUpdate), seen.last_failure->message}, seen.now);
  }
  return to_plan(std::move(changes), before, std::move(status));
}

}  // namespace tpuslice::leaderworkerset
