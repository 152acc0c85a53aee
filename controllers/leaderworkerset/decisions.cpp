#include "controllers/leaderworkerset/decisions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "api/base/earlier.h"
#include "api/base/strings.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/sets/drift.h"
#include "controllers/leaderworkerset/sets/leader_set.h"
#include "controllers/leaderworkerset/sets/leader_template.h"
#include "controllers/leaderworkerset/sets/services.h"
#include "controllers/plan/service.h"

namespace tpuslice::leaderworkerset {
namespace {

using Requeue = std::optional<Duration>;
using plan::ChildDecision;

/// When an outdated group counts as stuck; nullopt if it is ready or up to date.
std::optional<Timestamp> stuck_from(const LeaderWorkerSetState& state, const Group& group, const Options& options) {
  if (group.leader == nullptr || group.ready() || !group.is_outdated(state.history.desired)) return std::nullopt;
  return group.leader->created.value_or(state.seen.now) + options.stuck_after;
}

/// The time until the next group is stuck.
Requeue until_stuck(const LeaderWorkerSetState& state, const Options& options) {
  Requeue out;
  for (const Group& group : state.groups) {
    const std::optional<Timestamp> stuck = stuck_from(state, group, options);
    if (stuck && *stuck > state.seen.now) set_earlier(out, Duration(*stuck - state.seen.now));
  }
  return out;
}

RolloutStep next_rollout_step(const LeaderWorkerSetState& state, const Options& options) {
  const std::string& desired = state.history.desired;
  RolloutState rollout{state.spec.replicas, state.spec.rollout, std::nullopt, state.history.leader_set_outdated, {}};
  if (state.leader_set != nullptr) {
    const std::optional<int> annotated = parse_count(state.leader_set->annotation(kReplicas));
    rollout.leader_set = {state.leader_replicas(), state.partition(), annotated.value_or(state.leader_replicas())};
  }
  for (const Group& group : state.groups) {
    const std::optional<Timestamp> stuck = stuck_from(state, group, options);
    rollout.groups.resize(static_cast<std::size_t>(group.index) + 1);
    rollout.groups.back() = {group.ready(), group.has_revision(desired), group.is_outdated(desired),
                             stuck && *stuck <= state.seen.now};
  }
  return next_step(rollout);
}

ChildDecision decide_shared_service(const LeaderWorkerSetState& state) {
  if (state.spec.group.service_per_group) return {};
  return plan::decide_headless_service(build_shared_service(state.spec), state.find_service(state.spec.key.name));
}

/// Sets kLeaderTemplate of `live` by the patch; removes it if `recorded` is empty.
void record_template(const std::string& recorded, const StatefulSetView& live, Json& patch) {
  const std::string name(kLeaderTemplate);
  if (live.annotation(kLeaderTemplate) == recorded) return;
  patch["metadata"]["annotations"][name] = recorded.empty() ? Json() : Json(recorded);
}

/// Sets leader_set and restored_template.
void decide_leader_set(const LeaderWorkerSetState& state, const std::string& restart_records, Decisions& out) {
  if (state.leader_set == nullptr) {
    out.leader_set = {ChildDecision::Kind::kCreate};
    return;
  }
  const StatefulSetView& live = *state.leader_set;
  const bool outdated = state.history.leader_set_outdated;
  Json desired = build_leader_set(state.spec, {state.history.desired, out.step.replicas, out.step.partition});
  desired["metadata"]["annotations"].erase(std::string(kLeaderTemplate));
  if (!restart_records.empty()) desired["metadata"]["annotations"][std::string(kRestarts)] = restart_records;
  Json patch = restore_set(desired, live, outdated ? PodTemplate::kReplace : PodTemplate::kIgnore);
  LeaderTemplateDecision pods = outdated ? LeaderTemplateDecision{} : decide_leader_template(desired, live);
  record_template(pods.recorded, live, patch);
  if (!pods.patch.is_null()) patch["spec"]["template"] = std::move(pods.patch);
  out.restored_template = std::move(pods.restored);
  if (!patch.is_null()) out.leader_set = {ChildDecision::Kind::kPatch, std::move(patch)};
}

/// The leader set as it is, with other records.
ChildDecision record_restarts(const std::string& records) {
  if (records.empty()) return {};
  Json patch;
  patch["metadata"]["annotations"][std::string(kRestarts)] = records;
  return {ChildDecision::Kind::kPatch, std::move(patch)};
}

bool concerns_groups(const Decisions& decisions) {
  return !decisions.deletions.empty() || std::ranges::any_of(decisions.group_children, &GroupChildren::has_writes);
}

}  // namespace

Decisions decide(const LeaderWorkerSetState& state, const Options& options) {
  Restarts restarts = decide_restarts(state, options);
  Decisions out{.step = next_rollout_step(state, options),
                .deletions = std::move(restarts.deletions),
                .exhausted = std::move(restarts.exhausted),
                .requeue_after = restarts.requeue_after};
  out.deletions.merge(decide_updates(state));  // A group that restarts is not deleted twice.
  if (const Requeue stuck = until_stuck(state, options)) set_earlier(out.requeue_after, *stuck);
  // Until the refused writes of a rollout are tried again, even if groups need something.
  const Requeue rollout_retry = plan::until_retry(state.seen.last_failure, kFailedRollout, state.seen.now);
  const bool revision_is_missing = rollout_retry && state.history.missing;
  out.group_children =
      decide_group_children(state, out.deletions, revision_is_missing ? state.history.desired : std::string());
  if (rollout_retry && concerns_groups(out)) {
    out.rollout_waits = true;
    out.leader_set = record_restarts(restarts.records);
    set_earlier(out.requeue_after, *rollout_retry);
    return out;
  }
  out.create_revision = state.history.missing.has_value();
  out.shared_service = decide_shared_service(state);
  decide_leader_set(state, restarts.records, out);
  out.expired_revisions =
      expired_revisions(state.history, state.groups, state.leader_set, options.revision_history_limit);
  return out;
}

std::optional<int> decide_refused(const LeaderWorkerSetObserved& seen) {
  const StatefulSetView* const set = find_leader_set(seen);
  const auto wanted = int32_at(seen.set.json(), {"spec", "replicas"});
  if (set == nullptr || set->deletion || !set->controller || set->controller->uid != seen.set.spec().uid) {
    return std::nullopt;
  }
  if (!wanted || *wanted < 0 || *wanted >= set->replicas()) return std::nullopt;
  const std::optional<int> accepted = parse_count(set->annotation(kReplicas));
  if (accepted && *wanted >= *accepted) return std::nullopt;  // The others are surge groups.
  return static_cast<int>(*wanted);
}

}  // namespace tpuslice::leaderworkerset
