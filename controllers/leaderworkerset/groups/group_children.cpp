#include "controllers/leaderworkerset/groups/group_children.h"

#include <algorithm>
#include <map>
#include <utility>

#include "controllers/leaderworkerset/adoption.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/sets/drift.h"
#include "controllers/leaderworkerset/sets/placement.h"
#include "controllers/leaderworkerset/sets/services.h"
#include "controllers/plan/service.h"
#include "tpu/rules/limits.h"

namespace tpuslice::leaderworkerset {
namespace {

using Kind = WorkerSetDecision::Kind;

/// The templates of revisions, each parsed once.
class RevisionTemplates {
 public:
  explicit RevisionTemplates(const LeaderWorkerSetState& state) : state_(state) {}
  /// Null if the revision does not exist.
  [[nodiscard]] std::shared_ptr<const RevisionTemplate> find(const std::string& key);

 private:
  const LeaderWorkerSetState& state_;
  std::map<std::string, std::shared_ptr<const RevisionTemplate>, std::less<>> templates_;
};

std::shared_ptr<const RevisionTemplate> RevisionTemplates::find(const std::string& key) {
  if (const auto known = templates_.find(key); known != templates_.end()) return known->second;
  const Revision* revision = find_revision(state_.history.revisions, key);
  if (revision == nullptr) return nullptr;
  struct Owner {
    Json groups;
    RevisionTemplate revision;  ///< Borrows from `groups`.
  };
  const auto owner = std::make_shared<Owner>();
  owner->groups = groups_of(revision->data, state_.seen.set.json());
  owner->revision.group = GroupTemplate::read(owner->groups);
  owner->revision.workers_are_slices = workers_are_slices(owner->revision.group);
  return templates_.emplace(key, std::shared_ptr<const RevisionTemplate>(owner, &owner->revision)).first->second;
}

bool has_previous_leader(const StatefulSetView& set, const Group& group) {
  return set.controller && set.controller->kind == "Pod" && set.controller->name == group.leader->key.name;
}

/// Cheap drift check that does not build the desired StatefulSet.
bool has_drifted(const LeaderWorkerSetSpec& spec, const Group& group) {
  const StatefulSetView& set = *group.worker_set;
  const auto name = set.labels.find(kLwsName);
  return set.replicas() != group.size - 1 || set.first_ordinal() != 1 || name == set.labels.end() ||
         name->second != spec.key.name;
}

WorkerSetDecision create_worker_set(const LeaderWorkerSetState& state, const Group& group,
                                    const RevisionTemplate& revision) {
  const LeaderWorkerSetSpec& spec = state.spec;
  if (const StatefulSetPtr& other = group.other_set; other != nullptr) {
    // A watch event follows when it is gone.
    if (other->deletion || has_previous_leader(*other, group)) return {};
    if (!is_orphaned_worker_set(spec, group, *other)) return {Kind::kConflict};
    return {Kind::kAdopt, {}, adoption_patch(leader_reference(group.leader->key.name, group.leader->uid))};
  }
  if (spec.startup == StartupPolicy::kLeaderReady && !group.leader->ready) return {};
  if (!workers_follow_leader(spec, revision.group, group.leader->annotation(tpu::kSliceLeader))) return {Kind::kCreate};
  const std::string& node_name = group.leader->node_name;
  if (node_name.empty()) return {};
  const std::vector<NodePtr>& nodes = state.seen.nodes;
  const auto node = std::ranges::find(nodes, node_name, [](const NodePtr& each) { return each->key.name; });
  if (node == nodes.end()) return {Kind::kNoNode};
  const auto value = (*node)->labels.find(spec.topology_key);
  if (value == (*node)->labels.end()) return {Kind::kNoTopology};
  return {Kind::kCreate, {spec.topology_key, value->second}};
}

/// Whether to record the pods, to detect a pod that is deleted and recreated between two plans. For slices,
/// controllers/slice does that.
bool records_members(const LeaderWorkerSetSpec& spec, const Group& group, const RevisionTemplate& revision) {
  return spec.restarts != RestartPolicy::kNone && group.complete() && !revision.workers_are_slices;
}

WorkerSetDecision repair_worker_set(const LeaderWorkerSetState& state, const GroupChildren& children) {
  const Group& group = *children.group;
  const StatefulSetView& live = *group.worker_set;
  Json patch;
  if (has_drifted(state.spec, group)) {
    patch = restore_set(build_worker_set(state.spec, children.revision->group, children.leader), live,
                        PodTemplate::kIgnore);
  }
  const bool drifted = !patch.is_null();
  if (records_members(state.spec, group, *children.revision) && live.annotation(kMembers).empty()) {
    patch["metadata"]["annotations"][std::string(kMembers)] = members_hash(group);
  }
  if (patch.is_null()) return {};
  return {drifted ? Kind::kRestore : Kind::kRecord, {}, std::move(patch)};
}

WorkerSetDecision decide_worker_set(const LeaderWorkerSetState& state, const GroupChildren& children) {
  const Group& group = *children.group;
  if (group.size == 1) return {};
  if (group.worker_set == nullptr) return create_worker_set(state, group, *children.revision);
  return group.worker_set->deletion ? WorkerSetDecision{} : repair_worker_set(state, children);
}

GroupChildren decide_children(const LeaderWorkerSetState& state, const Group& group, RevisionTemplates& templates) {
  GroupChildren out{.group = &group, .revision = templates.find(group.revision_key())};
  if (out.revision == nullptr) return out;
  out.leader = Leader::read(state.spec, *group.leader, group.index, out.revision->group);
  if (out.revision->group.service_per_group) {
    out.service =
        plan::decide_headless_service(build_group_service(state.spec, out.leader), state.find_service(out.leader.name));
  }
  out.worker_set = decide_worker_set(state, out);
  return out;
}

}  // namespace

std::size_t GroupChildren::size() const {
  if (revision == nullptr) return 1;
  return (service.kind == plan::ChildDecision::Kind::kNone ? 0U : 1U) + (worker_set.kind == Kind::kNone ? 0U : 1U);
}

bool GroupChildren::has_writes() const {
  using Service = plan::ChildDecision::Kind;
  return service.kind == Service::kCreate || service.kind == Service::kPatch || worker_set.kind == Kind::kCreate ||
         worker_set.kind == Kind::kAdopt || worker_set.kind == Kind::kRestore || worker_set.kind == Kind::kRecord;
}

std::vector<GroupChildren> decide_group_children(const LeaderWorkerSetState& state, const GroupDeletions& deletions,
                                                 const std::string& without) {
  RevisionTemplates templates(state);
  std::vector<GroupChildren> out;
  std::size_t decided = 0;
  for (const Group& group : state.groups) {
    if (decided >= rules::kMaxCreatesPerPlan) break;
    if (!group.has_live_leader() || deletions.contains(group.index)) continue;
    if (!without.empty() && group.revision_key() == without) continue;
    GroupChildren children = decide_children(state, group, templates);
    decided += children.size();
    if (children.size() > 0) out.push_back(std::move(children));
  }
  return out;
}

}  // namespace tpuslice::leaderworkerset
