#include "webhook/rules/leaderworkerset/groups.h"

#include "tpu/naming.h"
#include "webhook/rules/fields.h"
#include "webhook/rules/tpu_rules.h"

namespace tpuslice::webhook {
namespace {

/// The number at `path` if it is at least `least`, `fallback` if absent; else `fallback` and not sound.
std::int64_t count_at(const Json& set, std::initializer_list<std::string_view> path, std::int64_t fallback,
                      bool& sound) {
  if (find_set(set, path) == nullptr) return fallback;
  const auto number = int_at(set, path);
  if (number && *number >= 1) return *number;
  sound = false;
  return fallback;
}

}  // namespace

LwsGroups read_lws_groups(const Json& set) {
  LwsGroups groups;
  const auto replicas = int_at(set, {"spec", "replicas"});
  if (replicas && *replicas >= 0 && *replicas <= kMostLwsReplicas) groups.replicas = *replicas;
  groups.size = count_at(set, {"spec", "leaderWorkerTemplate", "size"}, 1, groups.sound);
  if (const Json* policy = find_set(set, {"spec", "leaderWorkerTemplate", "subGroupPolicy"}); policy != nullptr) {
    const bool excluded = string_at(*policy, {"subGroupPolicyType"}) == "LeaderExcluded";
    const std::int64_t size = count_at(*policy, {"subGroupSize"}, 1, groups.sound);
    const bool divides = (groups.size - 1) % size == 0 || (!excluded && groups.size % size == 0);
    groups.sound = groups.sound && find_set(*policy, {"subGroupSize"}) != nullptr && divides && size <= groups.size;
    groups.subgroups = {size, excluded};
  }
  groups.worker = find_set(set, {"spec", "leaderWorkerTemplate", "workerTemplate"});
  groups.leader = find_set(set, {"spec", "leaderWorkerTemplate", "leaderTemplate"});
  if (groups.leader == nullptr) groups.leader = groups.worker;
  groups.leader_has_tpus = groups.leader != nullptr && asks_for_tpus(*groups.leader);
  groups.workers_have_tpus = groups.worker != nullptr && asks_for_tpus(*groups.worker);
  return groups;
}

LwsSlices lws_slices(const LwsGroups& groups) {
  const auto with_tpus = [&](std::int64_t workers) { return groups.workers_have_tpus ? workers : 0; };
  const std::int64_t leader = groups.leader_has_tpus && groups.leader_is_member() ? 1 : 0;
  if (!groups.subgroups) return {with_tpus(groups.size - 1) + leader, 0, 1};
  const std::int64_t size = groups.subgroups->size;
  LwsSlices slices;
  slices.count = groups.size / size;
  slices.first = with_tpus(tpu::lws_leader_is_extra(groups.size, size) ? size : size - 1) + leader;
  slices.others = slices.count > 1 ? with_tpus(size) : 0;
  return slices;
}

}  // namespace tpuslice::webhook
