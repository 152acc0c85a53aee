#include "controllers/leaderworkerset/adoption.h"

#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "controllers/leaderworkerset/events.h"
#include "controllers/leaderworkerset/leaderworkerset_status.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/plan/changes.h"

namespace tpuslice::leaderworkerset {
namespace {

bool is_orphan(const LeaderWorkerSetSpec& spec, const StatefulSetView& set) {
  return !set.controller && !set.deletion && value_of(set.labels, kLwsName) == spec.key.name;
}

}  // namespace

bool is_orphaned_leader_set(const LeaderWorkerSetSpec& spec, const StatefulSetView& set) {
  return is_orphan(spec, set) && !value_of(set.labels, kRevisionKey).empty();
}

bool is_orphaned_worker_set(const LeaderWorkerSetSpec& spec, const Group& group, const StatefulSetView& set) {
  return is_orphan(spec, set) && value_of(set.labels, kLwsGroupIndex) == std::to_string(group.index) &&
         value_of(set.labels, kRevisionKey) == group.revision_key();
}

bool is_orphaned_revision(const ObjectView& revision) {
  if (revision.controller || revision.deletion || revision.minimal) return false;
  const Object object = revision.object();
  return array_at(object.json(), {"metadata", "ownerReferences"}).empty();
}

Json adoption_patch(const ControllerRef& owner) {
  return {{"metadata", {{"ownerReferences", Json::array({owner.to_json()})}}}};
}

plan::Action check_set(const LeaderWorkerSetObserved& seen) {
  const LeaderWorkerSetSpec& spec = seen.set.spec();
  plan::Action action = plan::Action::patch(kLeaderWorkerSets, spec.key, Json::object(),
                                            {.uid = spec.uid, .resource_version = seen.set.resource_version()});
  action.subresource = "status";
  action.failure_reason = kFailedUpdate;
  return action;
}

plan::Action adopt_revision(const LeaderWorkerSetSpec& spec, const ObjectView& revision) {
  plan::Action action = plan::Action::patch(kControllerRevisions, revision.key, adoption_patch(spec.owner),
                                            {.uid = revision.uid, .resource_version = revision.resource_version});
  action.failure_reason = kFailedUpdate;
  return action;
}

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
