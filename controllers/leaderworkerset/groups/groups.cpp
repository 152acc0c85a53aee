#include "controllers/leaderworkerset/groups/groups.h"

#include <algorithm>
#include <map>

#include "api/base/hash.h"
#include "api/base/strings.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"

namespace tpuslice::leaderworkerset {
namespace {

constexpr std::size_t kMembersLength = 13;

bool belongs_to(const std::optional<ControllerRef>& owner, const std::string& uid) {
  return owner && owner->uid == uid;
}

/// The size in the group's own revision; if that does not exist, from the leader's annotation; otherwise from the set.
int size_of(const Group& group, const LeaderWorkerSetSpec& spec, const std::vector<Revision>& revisions) {
  const Revision* revision = find_revision(revisions, group.revision_key());
  if (revision == nullptr) {
    if (group.leader == nullptr) return spec.group.size;
    return std::max(1, parse_count(group.leader->annotation(kLwsSize)).value_or(spec.group.size));
  }
  return revision->size;
}

/// Whether `workers` pods are available, regardless of the set's spec.replicas, which users may change.
bool is_available(const StatefulSetView& worker_set, int workers) {
  return worker_set.available >= workers && worker_set.current_revision == worker_set.update_revision;
}

}  // namespace

const std::string& Group::revision_key() const {
  static const std::string kNone;
  return leader == nullptr ? kNone : leader->label(kRevisionKey);
}

bool Group::ready() const {
  if (leader == nullptr || leader->terminating() || leader->phase != PodPhase::kRunning || !leader->ready) return false;
  return size == 1 || (worker_set != nullptr && !worker_set->deletion && is_available(*worker_set, size - 1));
}

bool Group::has_revision(std::string_view key) const {
  if (leader == nullptr || leader->label(kRevisionKey) != key) return false;
  if (size == 1) return true;
  if (worker_set == nullptr) return false;
  const auto label = worker_set->labels.find(kRevisionKey);
  return label != worker_set->labels.end() && label->second == key;
}

bool Group::is_outdated(std::string_view key) const {
  if (leader == nullptr) return false;
  return leader->label(kRevisionKey) != key || (worker_set != nullptr && !has_revision(key));
}

bool Group::complete() const {
  const auto live = [](const PodPtr& pod) { return !pod->terminating(); };
  return leader != nullptr && live(leader) && static_cast<int>(workers.size()) == size - 1 &&
         std::ranges::all_of(workers, live);
}

bool Group::started() const {
  const auto is_started = [](const PodPtr& pod) { return pod->phase != PodPhase::kPending; };
  return leader != nullptr && is_started(leader) && static_cast<int>(workers.size()) == size - 1 &&
         std::ranges::all_of(workers, is_started);
}

std::vector<Group> read_groups(const LeaderWorkerSetSpec& spec, const LeaderWorkerSetObserved& seen,
                               const StatefulSetView* leader_set, const std::vector<Revision>& revisions, int count) {
  std::map<int, Group> groups;
  for (int i = 0; i < count; ++i) groups[i].index = i;
  for (const PodPtr& pod : seen.pods) {
    const std::optional<int> index = parse_group_index(spec, pod->key.name);
    if (!index || *index >= kMaxGroups) continue;
    if (leader_set == nullptr || !belongs_to(pod->controller, leader_set->uid)) continue;
    groups[*index].index = *index;
    groups[*index].leader = pod;
  }
  std::map<std::string_view, Group*> by_worker_set;
  for (const StatefulSetPtr& set : seen.stateful_sets) {
    const std::optional<int> index = parse_group_index(spec, set->key.name);
    const auto found = index ? groups.find(*index) : groups.end();
    if (found == groups.end()) continue;
    Group& group = found->second;
    const bool ours = group.leader != nullptr && belongs_to(set->controller, group.leader->uid);
    (ours ? group.worker_set : group.other_set) = set;
    if (ours) by_worker_set.emplace(set->uid, &group);
  }
  for (const PodPtr& pod : seen.pods) {
    if (!pod->controller) continue;
    const auto group = by_worker_set.find(pod->controller->uid);
    if (group != by_worker_set.end()) group->second->workers.push_back(pod);
  }
  std::vector<Group> out;
  for (auto& [index, group] : groups) {
    group.size = size_of(group, spec, revisions);
    std::ranges::sort(group.workers, {}, [](const PodPtr& pod) { return pod->key.name; });
    out.push_back(std::move(group));
  }
  return out;
}

std::string members_hash(const Group& group) {
  std::string uids = group.leader->uid;
  for (const PodPtr& worker : group.workers) uids += "/" + worker->uid;
  return short_hash(uids, kMembersLength);
}

}  // namespace tpuslice::leaderworkerset
