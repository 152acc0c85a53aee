#include "controllers/leaderworkerset/adoption.h"

#include <string>

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"

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

}  // namespace tpuslice::leaderworkerset
