#include "controllers/leaderworkerset/groups/group_deletions.h"

#include <algorithm>
#include <utility>

#include "api/base/earlier.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"

namespace tpuslice::leaderworkerset {
namespace {

/// A restart that was recorded, of which the leader is not deleted yet: workers that were deleted before it, and are
/// gone, show no failure any more.
std::optional<GroupFailure> pending_restart(const LeaderWorkerSetSpec& spec, const Group& group,
                                            const RestartRecords& records) {
  if (spec.restarts == RestartPolicy::kNone) return std::nullopt;
  const auto record = records.find(group.index);
  if (record == records.end() || record->second.leader != group.leader->uid) return std::nullopt;
  return GroupFailure{"its restart has begun"};
}

}  // namespace

Restarts decide_restarts(const LeaderWorkerSetState& state, const Options& options) {
  Restarts out;
  if (state.leader_set == nullptr) return out;
  const Timestamp now = state.seen.now;
  const RestartRecords stored = read_restarts(state.leader_set->annotation(kRestarts));
  RestartRecords records = stored;
  // A time in the future, by a clock that was ahead, would hold back the next restart until then.
  for (auto& [group, record] : records) record.last = std::min(record.last, now);
  const std::optional<int> limit = state.spec.max_group_restarts;
  for (const Group& group : state.groups) {
    if (!state.has_lasting_leader(group)) continue;
    std::optional<GroupFailure> failure = failure_of(state.spec, group, options);
    if (!failure) failure = pending_restart(state.spec, group, stored);
    if (!failure) continue;
    const RestartDecision decision = decide_restart(group, records, limit, now, options);
    switch (decision.kind) {
      case RestartDecision::Kind::kRestart:
        records[group.index] = decision.record;
        out.deletions[group.index] = {&group, std::move(failure)};
        break;
      case RestartDecision::Kind::kBackOff:
        set_earlier(out.requeue_after, Duration(decision.due - now));
        break;
      case RestartDecision::Kind::kExhausted:
        records[group.index] = decision.record;
        out.exhausted.push_back({&group, decision.record.count, std::move(failure->cause)});
        break;
    }
  }
  if (records != stored) out.records = format_restarts(records, state.leader_replicas(), now, options);
  return out;
}

GroupDeletions decide_updates(const LeaderWorkerSetState& state) {
  GroupDeletions out;
  const StatefulSetView* const leader_set = state.leader_set;
  const bool leader_set_observed = leader_set != nullptr && !state.history.leader_set_outdated &&
                                   leader_set->observed_generation >= leader_set->generation;
  if (!leader_set_observed) return out;
  for (const Group& group : state.groups) {
    if (!state.has_lasting_leader(group) || group.index < state.partition()) continue;
    if (group.revision_key() != state.history.desired) out[group.index] = {&group};
  }
  return out;
}

}  // namespace tpuslice::leaderworkerset
