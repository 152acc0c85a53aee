#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_controller.h"

#include "api/base/backoff.h"
#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_sync.h"

namespace tpuslice::sim {

namespace {

constexpr Duration kInitialSetBackOff = std::chrono::milliseconds(5);
constexpr Duration kMaxSetBackOff = std::chrono::seconds(1000);

}  // namespace

StatefulSetController::StatefulSetController(Registry& registry)
    : registry_(registry),
      feed_(registry.storage(), std::vector<std::string>{kStatefulSets, "pods", kControllerRevisions}) {}

bool StatefulSetController::step(Instant now) {
  const ChangeFeed::Batch batch = feed_.take();
  if (batch.relisted) {
    sets_.clear();
    pods_.clear();
    revisions_.clear();
    queue_.clear();
  }
  for (const Change& change : batch.changes) observe(change, now);
  bool wrote = false;
  for (const ObjectKey& key : queue_.take(now)) wrote |= sync(key, now);
  return wrote;
}

void StatefulSetController::observe(const Change& change, Instant now) {
  if (change.resource == kStatefulSets) {
    observe_set(change, now);
  } else if (change.resource == "pods") {
    observe_pod(change, now);
  } else {
    revisions_.observe(change);
  }
}

void StatefulSetController::observe_set(const Change& change, Instant now) {
  if (change.type == ChangeType::kDeleted) {
    sets_.erase(change.key);
    queue_.remove(change.key);
    return;
  }
  const std::string uid = string_at(*change.object, {"metadata", "uid"});
  Set& set = sets_[change.key];
  if (set.uid != uid) {
    set = Set{.uid = uid};
    const Json* selector = find_path(*change.object, {"spec", "selector"});
    auto parsed =
        selector == nullptr ? Result<LabelSelector>(LabelSelector::nothing()) : LabelSelector::from_json(*selector);
    if (parsed) set.selector = std::move(*parsed);
  }
  queue_.add(change.key, now);
}

void StatefulSetController::observe_pod(const Change& change, Instant now) {
  pods_.observe(change);
  const auto wake = [this, now](const ObjectKey& key, const std::string& uid) {
    const auto set = sets_.find(key);
    if (set != sets_.end() && set->second.uid == uid) queue_.add(key, now);
  };
  bool controlled = false;
  for (const JsonPtr& state : {change.previous, change.object}) {
    const Json* controller = state == nullptr ? nullptr : controller_of(*state);
    controlled = controller != nullptr;
    if (!controlled || string_at(*controller, {"kind"}) != "StatefulSet") continue;
    wake({change.key.namespace_name, string_at(*controller, {"name"})}, string_at(*controller, {"uid"}));
  }
  if (controlled || change.type == ChangeType::kDeleted) return;
  const StringMap labels = string_map_at(*change.object, {"metadata", "labels"});
  for (auto set = sets_.lower_bound({change.key.namespace_name, {}});
       set != sets_.end() && set->first.namespace_name == change.key.namespace_name; ++set) {
    if (set->second.selector.matches(labels)) queue_.add(set->first, now);
  }
}

bool StatefulSetController::sync(const ObjectKey& key, Instant now) {
  const auto found = sets_.find(key);
  if (found == sets_.end()) return false;
  Set& known = found->second;
  const JsonPtr set = registry_.storage().get(kStatefulSets, key);
  // Changes after the read are seen in the next step.
  if (set == nullptr || string_at(*set, {"metadata", "uid"}) != known.uid) return false;
  StatefulSetMembers members = find_members(registry_, *set, candidates("pods", pods_, key, known.uid),
                                            candidates(kControllerRevisions, revisions_, key, known.uid));
  const StatefulSetOutcome outcome = StatefulSetSync(registry_, set, std::move(members)).run();
  known.failed_syncs = outcome.failed ? known.failed_syncs + 1 : 0;
  if (outcome.failed) {
    queue_.add(key, now + exponential_backoff(known.failed_syncs, kInitialSetBackOff, kMaxSetBackOff));
  }
  if (outcome.requeue_after) queue_.add(key, now + *outcome.requeue_after);
  return outcome.wrote;
}

std::vector<JsonPtr> StatefulSetController::candidates(const char* resource, const Dependents& index,
                                                       const ObjectKey& key, const std::string& uid) const {
  std::vector<JsonPtr> out;
  for (const auto& [names, controller] :
       {std::pair(&index.of(uid), uid), std::pair(&index.orphans(key.namespace_name), std::string())}) {
    for (const ObjectKey& name : *names) {
      JsonPtr object = registry_.storage().get(resource, name);
      if (object != nullptr && controller_uid(*object) == controller) out.push_back(std::move(object));
    }
  }
  return out;
}

}  // namespace tpuslice::sim
