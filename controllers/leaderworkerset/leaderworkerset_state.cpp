#include "controllers/leaderworkerset/leaderworkerset_state.h"

#include <algorithm>

namespace tpuslice::leaderworkerset {
namespace {

std::map<std::string_view, const ServiceView*> services_by_name(const std::vector<ServicePtr>& services) {
  std::map<std::string_view, const ServiceView*> out;
  for (const ServicePtr& service : services) out.emplace(service->key.name, service.get());
  return out;
}

int group_count(std::int64_t count) { return static_cast<int>(std::min<std::int64_t>(count, kMaxGroups)); }

}  // namespace

const StatefulSetView* find_leader_set(const LeaderWorkerSetObserved& seen) {
  const ObjectKey& key = seen.set.spec().key;
  const auto found =
      std::ranges::find_if(seen.stateful_sets, [&](const StatefulSetPtr& set) { return set->key == key; });
  return found == seen.stateful_sets.end() ? nullptr : found->get();
}

LeaderWorkerSetState::LeaderWorkerSetState(const LeaderWorkerSetObserved& observed)
    : seen(observed),
      spec(observed.set.spec()),
      leader_set(find_leader_set(observed)),
      history(read_history(spec, seen, leader_set)),
      groups(read_groups(spec, seen, leader_set, history.revisions, std::max(spec.replicas, leader_replicas()))),
      services(services_by_name(seen.services)) {}

int LeaderWorkerSetState::leader_replicas() const {
  return leader_set == nullptr ? 0 : group_count(leader_set->replicas());
}

int LeaderWorkerSetState::partition() const { return leader_set == nullptr ? 0 : group_count(leader_set->partition()); }

const ServiceView* LeaderWorkerSetState::find_service(std::string_view name) const {
  const auto found = services.find(name);
  return found == services.end() ? nullptr : found->second;
}

}  // namespace tpuslice::leaderworkerset
