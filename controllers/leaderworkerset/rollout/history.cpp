#include "controllers/leaderworkerset/rollout/history.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/normal_form.h"
#include "controllers/plan/drift.h"

namespace tpuslice::leaderworkerset {
namespace {

std::string revision_key_of(const StatefulSetView* leader_set) {
  return leader_set == nullptr ? std::string() : value_of(leader_set->labels, kRevisionKey);
}

/// Whether the live leader set is for groups of that size, and has all of the leader's template. It records neither a
/// template of the workers nor what was removed from that of the leader: the API server adds defaults to it.
bool may_be_for(const StatefulSetView& leader_set, const GroupTemplate& group) {
  const Result<Json> pods = parse_json(leader_set.pod_template);
  return pods && string_at(*pods, {"metadata", "annotations", kLwsSize}) == std::to_string(group.size) &&
         (group.leader == nullptr || plan::has_all(*pods, normal_pod_template(*group.leader)));
}

const Revision* latest_equal(const std::vector<Revision>& revisions, const Json& data) {
  const Revision* found = nullptr;
  for (const Revision& revision : revisions) {
    if (revision.key.empty() || (found != nullptr && found->number > revision.number)) continue;
    if (same_groups(revision.data, data)) found = &revision;
  }
  return found;
}

}  // namespace

History read_history(const LeaderWorkerSetSpec& spec, const LeaderWorkerSetObserved& seen,
                     const StatefulSetView* leader_set) {
  History history;
  for (const ObjectPtr& revision : seen.revisions) history.revisions.push_back(Revision::read(revision->object()));
  const std::string live_key = revision_key_of(leader_set);
  const Json data = revision_data(seen.set.json());
  const Revision* const live = find_revision(history.revisions, live_key);
  if (live != nullptr && same_groups(live->data, data)) {
    history.desired = live_key;
    return history;
  }
  if (live != nullptr && normal_volume_claims(live->data) != normal_volume_claims(data)) {
    history.desired = live_key;
    history.claims_changed = true;
    return history;
  }
  // The revision of the leader set does not exist: assume that it equals the spec, unless the leader set shows a
  // change.
  const bool deleted = live == nullptr && !live_key.empty() && may_be_for(*leader_set, spec.group);
  history.leader_set_outdated = leader_set != nullptr && !deleted;
  if (const Revision* existing = deleted ? nullptr : latest_equal(history.revisions, data)) {
    history.desired = existing->key;
    return history;
  }
  Json revision =
      build_revision(spec, data, next_revision_number(history.revisions), deleted ? live_key : std::string());
  history.revisions.push_back(Revision::read(Object(revision)));
  history.desired = history.revisions.back().key;
  history.missing = std::move(revision);
  return history;
}

std::vector<Revision> expired_revisions(const History& history, const std::vector<Group>& groups,
                                        const StatefulSetView* leader_set, int limit) {
  const std::string live_key = revision_key_of(leader_set);
  std::set<std::string_view> used = {history.desired, live_key};
  for (const Group& group : groups) {
    // The StatefulSet controller will recreate the leader with an earlier revision that no object records, so keep all.
    if (leader_set != nullptr && group.leader == nullptr && group.index < leader_set->partition()) return {};
    used.insert(group.revision_key());
  }
  std::vector<const Json*> kept;
  std::vector<const Revision*> unused;
  for (const Revision& revision : history.revisions) {
    if (used.contains(revision.key)) {
      kept.push_back(&revision.data);
    } else {
      unused.push_back(&revision);
    }
  }
  std::ranges::sort(unused, std::ranges::greater(), &Revision::number);
  const std::size_t max_kept = kept.size() + static_cast<std::size_t>(limit);
  std::vector<Revision> expired;
  for (const Revision* revision : unused) {
    const bool repeated = std::ranges::any_of(kept, [&](const Json* data) { return *data == revision->data; });
    if (repeated || kept.size() >= max_kept) {
      expired.push_back(*revision);
    } else {
      kept.push_back(&revision->data);
    }
  }
  std::ranges::reverse(expired);
  return expired;
}

}  // namespace tpuslice::leaderworkerset
