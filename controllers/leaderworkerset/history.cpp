#include "controllers/leaderworkerset/history.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "controllers/leaderworkerset/labels.h"

namespace tpuslice::leaderworkerset {
namespace {

using runtime::Action;
using runtime::EventType;

std::string key_of(const StatefulSetView* leader_set) {
  if (leader_set == nullptr) return {};
  const auto label = leader_set->labels.find(kRevisionKey);
  return label == leader_set->labels.end() ? std::string() : label->second;
}

std::string size_in(const StatefulSetView& leader_set) {
  const Result<Json> pods = parse_json(leader_set.pod_template);
  return pods ? string_at(*pods, {"metadata", "annotations", tpu::kLwsSize}) : std::string();
}

const Revision* latest_like(const std::vector<Revision>& revisions, const Json& data) {
  const Revision* found = nullptr;
  for (const Revision& revision : revisions) {
    if (found != nullptr && found->number > revision.number) continue;
    if (same_groups(revision.data, data)) found = &revision;
  }
  return found;
}

}  // namespace

History plan_history(const LeaderWorkerSetSpec& spec, const LeaderWorkerSetObserved& seen,
                     const StatefulSetView* leader_set, Changes& changes) {
  History history;
  for (const ObjectPtr& revision : seen.revisions) history.revisions.push_back(Revision::read(revision->object));
  const std::string applied_key = key_of(leader_set);
  const Json data = revision_data(seen.set.json());
  const Revision* const applied = find_revision(history.revisions, applied_key);
  if (applied != nullptr && same_groups(applied->data, data)) {
    history.wanted = applied_key;
    return history;
  }
  // Where the revision of the leader set is lost, nobody knows better than the spec what it said: but for the size.
  const bool lost =
      applied == nullptr && !applied_key.empty() && size_in(*leader_set) == std::to_string(spec.group.size);
  history.is_new = leader_set != nullptr && !lost;
  if (const Revision* known = lost ? nullptr : latest_like(history.revisions, data)) {
    history.wanted = known->key;
    return history;
  }
  Json revision = build_revision(spec, data, next_number(history.revisions), lost ? applied_key : std::string());
  history.revisions.push_back(Revision::read(Object(revision)));
  history.wanted = history.revisions.back().key;
  Action action = Action::create(kControllerRevisions, Object(std::move(revision)));
  if (history.is_new) {
    changes.event(EventType::kNormal, "CreatingRevision",
                  fmt::format("Creating revision with key {} for updated LWS", history.wanted), action.key);
  }
  changes.add(changes.revisions, std::move(action), fmt::format("revision {} is missing: creating it", history.wanted));
  return history;
}

void prune_history(const History& history, const std::vector<Group>& groups, const StatefulSetView* leader_set,
                   int kept, Changes& changes) {
  std::set<std::string, std::less<>> used = {history.wanted, key_of(leader_set)};
  for (const Group& group : groups) used.insert(group.revision_key());
  std::vector<const Revision*> unused;
  for (const Revision& revision : history.revisions) {
    if (!used.contains(revision.key)) unused.push_back(&revision);
  }
  if (unused.size() <= static_cast<std::size_t>(kept)) return;
  std::ranges::sort(unused, {}, [](const Revision* revision) { return revision->number; });
  unused.resize(unused.size() - static_cast<std::size_t>(kept));
  for (const Revision* revision : unused) {
    changes.add(changes.leftovers, Action::remove(kControllerRevisions, revision->object, {.uid = revision->uid}),
                fmt::format("revision {} is no longer needed: deleting it", revision->key));
  }
}

}  // namespace tpuslice::leaderworkerset
