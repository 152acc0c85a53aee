#include "controllers/leaderworkerset/group_children.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "controllers/leaderworkerset/drift.h"
#include "controllers/leaderworkerset/placement.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/services.h"
#include "controllers/leaderworkerset/worker_set.h"
#include "controllers/plan/service.h"

namespace tpuslice::leaderworkerset {
namespace {

using plan::Action;

/// A node that is not in the store yet causes no event for this set.
constexpr Duration kNodeRetry = std::chrono::seconds(1);

WriteOrProblem write(Action action, std::string reason) {
  return {.write = PlannedWrite{std::move(action), std::move(reason)}};
}

WriteOrProblem problem(std::string reason, std::string message) {
  return {.problem = {std::move(reason), std::move(message)}, .requeue_after = plan::kConflictRetry};
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

/// Decides on the worker set of one group.
class WorkerSetDecider {
 public:
  WorkerSetDecider(const LeaderWorkerSetSpec& spec, const LeaderWorkerSetObserved& seen, const Group& group,
                   GroupTemplates& templates, std::shared_ptr<const RevisionTemplate> revision, const Leader& leader)
      : spec_(spec),
        observed_(seen),
        group_(group),
        templates_(templates),
        revision_(std::move(revision)),
        leader_(leader) {}

  [[nodiscard]] WriteOrProblem decide() const {
    if (group_.size == 1) return {};
    if (group_.worker_set == nullptr) return create();
    return group_.worker_set->deletion ? WriteOrProblem{} : repair();
  }

 private:
  [[nodiscard]] WriteOrProblem create() const {
    if (const StatefulSetPtr& other = group_.other_set; other != nullptr) {
      if (other->deletion || has_previous_leader(*other, group_)) return {};  // A watch event follows when it is gone.
      return problem("WorkerSetConflict",
                     fmt::format("StatefulSet {} does not belong to this set, so group {} has no workers: delete it",
                                 other->key.name, group_.index));
    }
    if (spec_.startup == StartupPolicy::kLeaderReady && !group_.leader->ready) return {};
    if (!follows_leader()) return create_in({});
    const std::string& node_name = group_.leader->node_name;
    if (node_name.empty()) return {};
    const auto node = std::ranges::find(observed_.nodes, node_name, [](const NodePtr& each) { return each->key.name; });
    if (node == observed_.nodes.end()) return {.requeue_after = kNodeRetry};
    const auto value = (*node)->labels.find(spec_.topology_key);
    if (value != (*node)->labels.end()) return create_in({spec_.topology_key, value->second});
    return problem("NoTopology", fmt::format("node {} of leader {} has no label {}, the value of annotation {}",
                                             node_name, leader_.name, spec_.topology_key, kExclusiveTopology));
  }

  [[nodiscard]] WriteOrProblem create_in(const Domain& domain) const {
    const auto build = [spec = templates_.spec(), revision = revision_, leader = leader_, domain] {
      return Result<Json>(build_worker_set(*spec, revision->group, leader, domain));
    };
    WriteOrProblem created = write(Action::create(kStatefulSets, {spec_.key.namespace_name, leader_.name}, build),
                                   fmt::format("the worker set of group {} is missing: creating it", group_.index));
    created.write->leader = group_.leader;
    return created;
  }

  [[nodiscard]] bool follows_leader() const {
    return workers_follow_leader(spec_, revision_->group, group_.leader->annotation(tpu::kSliceLeader));
  }

  [[nodiscard]] WriteOrProblem repair() const {
    const StatefulSetView& live = *group_.worker_set;
    Json patch;
    if (has_drifted(spec_, group_)) {
      patch = restore_set(build_worker_set(spec_, revision_->group, leader_), live, PodTemplate::kIgnore);
    }
    const bool drifted = !patch.is_null();
    if (records_members() && live.annotation(kMembers).empty()) {
      patch["metadata"]["annotations"][std::string(kMembers)] = members_hash(group_);
    }
    if (patch.is_null()) return {};
    return write(Action::patch(kStatefulSets, live.key, std::move(patch), {.uid = live.uid}),
                 drifted ? fmt::format("the worker set of group {} drifted: restoring it", group_.index)
                         : fmt::format("group {} is complete: recording its pods", group_.index));
  }

  /// Whether to record the pods, to detect a pod that is deleted and recreated between two plans. For slices,
  /// controllers/slice does that.
  [[nodiscard]] bool records_members() const {
    return spec_.restarts != RestartPolicy::kNone && group_.complete() && !revision_->workers_are_slices;
  }

  const LeaderWorkerSetSpec& spec_;
  const LeaderWorkerSetObserved& observed_;
  const Group& group_;
  GroupTemplates& templates_;
  const std::shared_ptr<const RevisionTemplate> revision_;
  const Leader& leader_;
};

}  // namespace

std::shared_ptr<const RevisionTemplate> GroupTemplates::find(const std::string& key) {
  if (const auto known = templates_.find(key); known != templates_.end()) return known->second;
  const Revision* revision = find_revision(revisions_, key);
  if (revision == nullptr) return nullptr;
  struct Owner {
    Json groups;
    RevisionTemplate revision;  ///< Borrows from `groups`.
  };
  const auto owner = std::make_shared<Owner>();
  owner->groups = groups_of(revision->data, set_.json());
  owner->revision.group = GroupTemplate::read(owner->groups);
  owner->revision.workers_are_slices = workers_are_slices(owner->revision.group);
  return templates_.emplace(key, std::shared_ptr<const RevisionTemplate>(owner, &owner->revision)).first->second;
}

std::shared_ptr<const LeaderWorkerSetSpec> GroupTemplates::spec() {
  if (spec_ == nullptr) {
    const auto set = std::make_shared<const Typed<LeaderWorkerSetSpec>>(set_);
    spec_ = std::shared_ptr<const LeaderWorkerSetSpec>(set, &set->spec());
  }
  return spec_;
}

std::vector<WriteOrProblem> decide_group_children(const LeaderWorkerSetSpec& spec, const LeaderWorkerSetObserved& seen,
                                                  const ServicesByName& services, GroupTemplates& templates,
                                                  const Group& group) {
  const std::shared_ptr<const RevisionTemplate> revision = templates.find(group.revision_key());
  if (revision == nullptr) {
    return {{.problem = {"RevisionMissing",
                         fmt::format("revision {} of group {} does not exist: delete pod {} to recreate the group",
                                     group.revision_key(), group.index, group.leader->key.name)}}};
  }
  const Leader leader = Leader::read(spec, *group.leader, group.index, revision->group);
  std::vector<WriteOrProblem> children;
  if (revision->group.service_per_group)
    children.push_back(decide_service(build_group_service(spec, leader), services));
  children.push_back(WorkerSetDecider(spec, seen, group, templates, revision, leader).decide());
  return children;
}

ServicesByName::ServicesByName(const std::vector<ServicePtr>& services) {
  for (const ServicePtr& service : services) by_name_.emplace(service->key.name, service.get());
}

const ServiceView* ServicesByName::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

WriteOrProblem decide_service(const Json& desired, const ServicesByName& services) {
  using enum plan::ChildDecision::Kind;
  const Object service(desired);
  const std::string& name = service.key().name;
  const ServiceView* const live = services.find(name);
  plan::ChildDecision decision = plan::decide_headless_service(desired, live);
  switch (decision.kind) {
    case kNone:
      return {};
    case kWait:
      return {.requeue_after = plan::kConflictRetry};  // A service of another owner causes no event for this set.
    case kCreate:
      return write(Action::create(kServices, service), fmt::format("service {} is missing: creating it", name));
    case kPatch:
      return write(Action::patch(kServices, live->key, std::move(decision.patch), {.uid = live->uid}),
                   fmt::format("service {} drifted: restoring it", name));
    case kConflict:
      return problem("ServiceConflict", decision.conflict + ": delete or rename it");
  }
  return {};
}

}  // namespace tpuslice::leaderworkerset
