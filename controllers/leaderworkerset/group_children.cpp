#include "controllers/leaderworkerset/group_children.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "controllers/leaderworkerset/drift.h"
#include "controllers/leaderworkerset/labels.h"
#include "controllers/leaderworkerset/placement.h"
#include "controllers/leaderworkerset/services.h"
#include "controllers/leaderworkerset/worker_set.h"

namespace tpuslice::leaderworkerset {
namespace {

using runtime::Action;

/// Nobody tells us of a node that we have not heard of yet.
constexpr Duration kNodeRetry = std::chrono::seconds(1);

bool is_of_earlier_leader(const StatefulSetView& set, const Group& group) {
  return set.deletion ||
         (set.controller && set.controller->kind == "Pod" && set.controller->name == group.leader->key.name);
}

/// What of a worker set tells, without building the one that should be, that somebody changed it.
bool has_drifted(const LeaderWorkerSetSpec& spec, const Group& group) {
  const StatefulSetView& set = *group.worker_set;
  const auto name = set.labels.find(tpu::kLwsName);
  return set.replicas() != group.size - 1 || set.first_ordinal() != 1 || name == set.labels.end() ||
         name->second != spec.key.name;
}

class GroupPlanner {
 public:
  GroupPlanner(const LeaderWorkerSetSpec& spec, const LeaderWorkerSetObserved& seen, const Group& group,
               const GroupTemplate& group_template, Changes& changes)
      : spec_(spec),
        seen_(seen),
        group_(group),
        template_(group_template),
        leader_(Leader::read(spec, *group.leader, group.index, template_)),
        changes_(changes) {}

  void plan() {
    if (template_.service_per_group) {
      plan_service(build_group_service(spec_, leader_), seen_, changes_.groups, changes_);
    }
    if (group_.size == 1) return;
    if (group_.worker_set == nullptr) return create();
    if (!group_.worker_set->deletion) restore();
  }

 private:
  void create() {
    if (group_.other_set != nullptr) {
      if (is_of_earlier_leader(*group_.other_set, group_)) return;  // Its end is an event.
      changes_.look_again_in(runtime::kConflictRetry);
      changes_.problems.push_back(
          {"WorkerSetConflict", fmt::format("StatefulSet {} is not of this set, so group {} has no workers: delete it",
                                            group_.other_set->key.name, group_.index)});
      return;
    }
    if (spec_.startup == StartupPolicy::kLeaderReady && !group_.leader->ready) return;
    std::optional<Domain> domain = find_domain();
    if (!domain) return;
    changes_.add(changes_.groups,
                 Action::create(kStatefulSets, Object(build_worker_set(spec_, template_, leader_, *domain))),
                 fmt::format("the workers of group {} are missing: creating their set", group_.index));
  }

  /// Where the leader decides on it: that of its node, once it has one.
  std::optional<Domain> find_domain() {
    const auto told = group_.leader->annotations.find(tpu::kSliceLeader);
    const std::string_view slice_leader =
        told == group_.leader->annotations.end() ? std::string_view() : std::string_view(told->second);
    if (!leader_decides(spec_, template_, slice_leader)) return Domain{};
    const std::string& name = group_.leader->node_name;
    if (name.empty()) return std::nullopt;
    const auto node = std::ranges::find_if(seen_.nodes, [&](const NodePtr& known) { return known->key.name == name; });
    if (node == seen_.nodes.end()) {
      changes_.look_again_in(kNodeRetry);
      return std::nullopt;
    }
    const auto value = (*node)->labels.find(spec_.topology_key);
    if (value != (*node)->labels.end()) return Domain{spec_.topology_key, value->second};
    changes_.look_again_in(runtime::kConflictRetry);
    changes_.problems.push_back(
        {"NoTopology", fmt::format("node {} of leader {} has no label {}, which the annotation {} names", name,
                                   leader_.name, spec_.topology_key, tpu::kLwsTopologyKey)});
    return std::nullopt;
  }

  void restore() {
    const StatefulSetView& live = *group_.worker_set;
    Json patch;
    if (has_drifted(spec_, group_)) {
      patch = restore_set(build_worker_set(spec_, template_, leader_), live, PodTemplate::kLeftAlone);
    }
    const bool restored = !patch.is_null();
    if (is_remembered() && live.annotation(kMembers).empty()) {
      patch["metadata"]["annotations"][std::string(kMembers)] = members_of(group_);
    }
    if (patch.is_null()) return;
    changes_.add(changes_.groups, Action::patch(kStatefulSets, live.key, std::move(patch), {.uid = live.uid}),
                 restored ? fmt::format("the worker set of group {} drifted: restoring it", group_.index)
                          : fmt::format("group {} is complete", group_.index));
  }

  /// A pod that is replaced ends its group, and the deletion may be over before anybody sees it. Slices of hosts are
  /// remembered by controllers/slice.
  [[nodiscard]] bool is_remembered() const {
    return spec_.restarts != RestartPolicy::kNone && group_.complete() && !workers_are_slices(template_);
  }

  const LeaderWorkerSetSpec& spec_;
  const LeaderWorkerSetObserved& seen_;
  const Group& group_;
  const GroupTemplate& template_;
  const Leader leader_;
  Changes& changes_;
};

}  // namespace

const GroupTemplate* GroupTemplates::find(const std::string& key) {
  if (const auto known = read_.find(key); known != read_.end()) return &known->second->group;
  const Revision* revision = find_revision(revisions_, key);
  if (revision == nullptr) return nullptr;
  auto entry = std::make_unique<Entry>();
  entry->groups = groups_of(revision->data, set_.json());
  entry->group = GroupTemplate::read(entry->groups);
  return &read_.emplace(key, std::move(entry)).first->second->group;
}

void plan_group(const LeaderWorkerSetSpec& spec, const LeaderWorkerSetObserved& seen, GroupTemplates& templates,
                const Group& group, Changes& changes) {
  const GroupTemplate* group_template = templates.find(group.revision_key());
  if (group_template == nullptr) {
    changes.problems.push_back(
        {"RevisionMissing", fmt::format("revision {} of group {} is lost: delete pod {} to make the group anew",
                                        group.revision_key(), group.index, group.leader->key.name)});
    return;
  }
  GroupPlanner(spec, seen, group, *group_template, changes).plan();
}

void plan_service(const Json& wanted, const LeaderWorkerSetObserved& seen, std::vector<runtime::Action>& stage,
                  Changes& changes) {
  const Object service(wanted);
  const auto live =
      std::ranges::find_if(seen.services, [&](const ServicePtr& known) { return known->key == service.key(); });
  ServiceVerdict verdict = judge_service(wanted, live == seen.services.end() ? nullptr : live->get());
  const std::string& name = service.key().name;
  switch (verdict.kind) {
    case ServiceVerdict::Kind::kGood:
    case ServiceVerdict::Kind::kLeaving:
      return;
    case ServiceVerdict::Kind::kMissing:
      return changes.add(stage, Action::create(kServices, service),
                         fmt::format("service {} is missing: creating it", name));
    case ServiceVerdict::Kind::kDrifted:
      return changes.add(stage, Action::patch(kServices, (*live)->key, std::move(verdict.patch), {.uid = (*live)->uid}),
                         fmt::format("service {} drifted: restoring it", name));
    case ServiceVerdict::Kind::kForeign:
      changes.look_again_in(runtime::kConflictRetry);
      changes.problems.push_back({"ServiceConflict", fmt::format("service {} {}", name, verdict.flaw)});
  }
}

}  // namespace tpuslice::leaderworkerset
