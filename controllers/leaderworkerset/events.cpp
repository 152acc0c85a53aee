#include "controllers/leaderworkerset/events.h"

#include <utility>

#include <fmt/format.h>

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"

namespace tpuslice::leaderworkerset {
namespace {

using plan::Action;
using plan::ActionKind;
using plan::EventIntent;
using plan::EventType;
using plan::ObjectReference;

// EventIntent::action.
constexpr const char* kCreate = "Create";
constexpr const char* kUpdate = "Update";
constexpr const char* kDelete = "Delete";

ObjectReference reference(const PodView& pod) { return {"v1", "Pod", pod.key, pod.uid, pod.resource_version}; }

EventIntent related_to(ObjectReference object, EventIntent event) {
  event.related = std::move(object);
  return event;
}

std::string creation_failure(const LeaderWorkerSetSpec& spec, const Action& action) {
  const std::string& name = action.key.name;
  if (action.type == kStatefulSets) {
    return action.key == spec.key ? fmt::format("Failed to create leader statefulset {}:", name)
                                  : fmt::format("Failed to create worker statefulset for leader pod {}:", name);
  }
  if (action.type == kServices && action.key == spec.key) return "Failed to create headless service for error:";
  return fmt::format("Failed to create {} {}:", action.type.kind, name);
}

std::string update_failure(const LeaderWorkerSetSpec& spec, const Action& action) {
  const std::string& name = action.key.name;
  if (action.type == kStatefulSets && action.key == spec.key) {
    return fmt::format("Failed to update leader statefulset {}:", name);
  }
  return fmt::format("Failed to update {} {}:", action.type.kind, name);
}

}  // namespace

EventIntent revision_created(const ObjectReference& revision, std::string_view key, RevisionOrigin origin) {
  const auto event = [&](std::string message) {
    return related_to(revision, {EventType::kNormal, "CreatingRevision", kCreate, std::move(message)});
  };
  switch (origin) {
    case RevisionOrigin::kNewSet:
      return event(fmt::format("Creating revision with key {} for a newly created LeaderWorkerSet", key));
    case RevisionOrigin::kUpdatedSet:
      return event(fmt::format("Creating revision with key {} for updated LWS", key));
    case RevisionOrigin::kDeletedRevision:
      break;
  }
  return event(fmt::format("Creating missing revision with key {} for existing LeaderWorkerSet", key));
}

EventIntent leader_set_created(const LeaderWorkerSetSpec& spec, const ObjectReference& revision) {
  std::string message = fmt::format("Created leader statefulset {}", spec.key.name);
  return related_to(revision, {EventType::kNormal, "GroupsProgressing", kCreate, std::move(message)});
}

EventIntent leader_template_restored(const LeaderWorkerSetSpec& spec, std::string_view members,
                                     const ObjectReference& revision) {
  std::string message = fmt::format(
      "Restored the pod template of leader statefulset {}, of which another client had changed {}: change the "
      "LeaderWorkerSet instead",
      spec.key.name, members);
  return related_to(revision, {EventType::kWarning, "LeaderTemplateRestored", kUpdate, std::move(message)});
}

EventIntent groups_updating(std::int64_t first, std::int64_t last, const ObjectReference& revision) {
  std::string message = first == last ? fmt::format("Updating replica {}", first)
                                      : fmt::format("Updating replicas {} to {} (inclusive)", first, last);
  return related_to(revision, {EventType::kNormal, "GroupsUpdating", kUpdate, std::move(message)});
}

EventIntent surge_groups_deleted(const LeaderWorkerSetSpec& spec, std::int64_t first, std::int64_t last) {
  const std::string& set = spec.key.name;
  std::string message = first == last
                            ? fmt::format("deleting surge replica {}-{}", set, first)
                            : fmt::format("deleting surge replicas from {}-{} to {}-{}", set, first, set, last);
  return {EventType::kNormal, "GroupsProgressing", kDelete, std::move(message)};
}

EventIntent worker_set_created(const PodView& leader) {
  std::string message = fmt::format("Created worker statefulset for leader pod {}", leader.key.name);
  return related_to(reference(leader), {EventType::kNormal, "GroupsProgressing", kCreate, std::move(message)});
}

EventIntent group_recreated(const PodView& leader, int group, const GroupFailure& failure) {
  const std::string& name = leader.key.name;
  std::string message =
      failure.pod.empty()
          ? fmt::format("Deleted leader pod {} to recreate group {}: {}", name, group, failure.cause)
          : fmt::format("Worker pod {} failed, deleted leader pod {} to recreate group {}", failure.pod, name, group);
  return related_to(reference(leader), {EventType::kNormal, "RecreateGroup", kDelete, std::move(message)});
}

EventIntent condition_changed(std::string_view reason, std::string_view message, int ready, int replicas) {
  return {EventType::kNormal, std::string(reason), kUpdate,
          fmt::format("{}, with {} groups ready of total {} groups", message, ready, replicas)};
}

EventIntent write_failed(const LeaderWorkerSetSpec& spec, const Action& action, const PodView* leader) {
  const bool creates = action.kind == ActionKind::kCreate;
  EventIntent event{EventType::kWarning, std::string(creates ? kFailedCreate : kFailedUpdate), kDelete, {}};
  if (leader != nullptr) event.related = reference(*leader);
  switch (action.kind) {
    case ActionKind::kCreate:
      event.action = kCreate;
      event.message = creation_failure(spec, action);
      break;
    case ActionKind::kPatch:
      event.action = kUpdate;
      event.message = update_failure(spec, action);
      break;
    case ActionKind::kDelete:
      event.message = fmt::format("Failed to delete {} {}:", action.type.kind, action.key.name);
      break;
  }
  return event;
}

}  // namespace tpuslice::leaderworkerset
